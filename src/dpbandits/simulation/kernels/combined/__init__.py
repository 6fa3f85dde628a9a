"""Those of policies for super arms."""
