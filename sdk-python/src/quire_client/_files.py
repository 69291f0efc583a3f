"""Files as a program has them."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from typing import BinaryIO, Union

File = Union[str, "os.PathLike[str]", bytes, BinaryIO]
"""A document: the path of a file, its bytes, or a file that is open for reading bytes."""

PART_BYTES = 65_536


@dataclass(frozen=True)
class Document:
    """A file with its name; `content` is its bytes or its path."""

    name: str
    content: bytes | str
    size: int

    @staticmethod
    def of(file: File) -> Document:
        """The file as it is now; raises `OSError` where there is none, `TypeError` for text."""
        if isinstance(file, bytes):
            return Document("document", file, len(file))
        if isinstance(file, (str, os.PathLike)):
            path = os.fspath(file)
            return Document(os.path.basename(path), path, os.stat(path).st_size)
        content = file.read()
        if not isinstance(content, bytes):
            raise TypeError("The file is open for reading text: open it for bytes, with mode 'rb'.")
        name = getattr(file, "name", None)
        return Document(
            os.path.basename(name) if isinstance(name, str) else "document", content, len(content)
        )

    def read(self) -> bytes:
        """All bytes."""
        return b"".join(self.parts())

    def parts(self) -> Iterator[bytes]:
        """The bytes, 64 KiB at a time."""
        if isinstance(self.content, bytes):
            for start in range(0, len(self.content), PART_BYTES):
                yield self.content[start : start + PART_BYTES]
            return
        with open(self.content, "rb") as opened:
            while part := opened.read(PART_BYTES):
                yield part
