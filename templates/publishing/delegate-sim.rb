# A formula for Homebrew; `make release` fills in the values, and `brew update-python-resources` adds the resources.
class DelegateSim < Formula
  include Language::Python::Virtualenv

  desc "Predicts what a TFLite / LiteRT delegate will do to a model"
  homepage "$repository"
  url "https://files.pythonhosted.org/packages/source/d/delegate-sim/$sdist"
  sha256 "$sha256"
  license "Apache-2.0"

  depends_on "numpy"
  depends_on "python@3.13"

  def install
    virtualenv_install_with_resources
  end

  test do
    assert_match version.to_s, shell_output("#{bin}/delegate-sim --version")
  end
end
