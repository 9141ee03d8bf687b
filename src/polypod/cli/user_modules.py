"""``--with FILE``: Python files of a user's own, whose leg kinds, motions and controllers are known from then on."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

from ..errors import InputError
from .terminal import shortened


def load_module(path: Path) -> None:
    """Run a Python file once, so that the kinds it defines are known."""
    name = f"polypod_with_{path.stem}"
    known = sys.modules.get(name)
    if known is not None and getattr(known, "__file__", None) == str(path.resolve()):
        return
    if path.suffix != ".py" or not path.is_file():
        raise InputError(f"--with {path}: a Python file (.py) is needed, and there is none of this name")
    spec = importlib.util.spec_from_file_location(name, path.resolve())
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    sys.path.insert(0, str(path.resolve().parent))  # what lies beside it
    try:
        spec.loader.exec_module(module)
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # sys.exit() too: a command that ends without a word has not done what was asked
        del sys.modules[name]
        where = getattr(error, "lineno", None) or _line(error, path)
        raise InputError(shortened(f"--with {path}: line {where}: {type(error).__name__}: {error}")) from error
    finally:
        sys.path.remove(str(path.resolve().parent))


def _line(error: BaseException, path: Path) -> int | str:
    """The last line of the file that an error passed through."""
    found: int | str = "?"
    trace = error.__traceback__
    while trace is not None:
        if Path(trace.tb_frame.f_code.co_filename) == path.resolve():
            found = trace.tb_lineno
        trace = trace.tb_next
    return found
