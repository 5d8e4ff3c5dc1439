"""The examples in the docstrings hold."""

import doctest
import importlib
import pkgutil

import pytest

from kafka_capacity.kafka import producer


@pytest.mark.parametrize("name", [module.name for module in pkgutil.iter_modules(producer.__path__)])
def test_examples_in_docstrings(name):
    assert doctest.testmod(importlib.import_module(f"{producer.__name__}.{name}")).failed == 0
