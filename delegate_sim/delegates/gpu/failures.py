EXPLANATIONS={}
kernel_failure=None
