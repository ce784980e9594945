import pytest

from delegate_sim.conversion.cache import ConversionCache
from delegate_sim.conversion.converters import Route, find_converters
from tests.support.conversion.fake_converters import make_environment


@pytest.fixture(scope="session")
def fake_python(tmp_path_factory):
    return make_environment(tmp_path_factory.mktemp("environment"))


@pytest.fixture(scope="session")
def fake_converter(fake_python):
    return next(each for each in find_converters([fake_python]) if each.name == "tensorflow")


@pytest.fixture(scope="session")
def fake_route(fake_converter):
    return Route(fake_converter)


@pytest.fixture
def cache(tmp_path):
    with ConversionCache(str(tmp_path / "cache")) as made:
        yield made
