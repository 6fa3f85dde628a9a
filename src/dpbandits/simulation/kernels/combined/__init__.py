"""Compiled players of policies for super arms."""
