"""Adding, downloading and finding data: nothing gets its name before it is checked. No network:
addresses are files here.
"""

from __future__ import annotations

import hashlib
import zipfile
from pathlib import Path

import pytest

from dpbandits.core.errors import DataError
from dpbandits.datasets import library
from dpbandits.datasets.films.movies import movielens

FILMS = "1::One (1991)::Drama\n2::Two (1992)::Comedy|Drama\n"
RATINGS = "1::1::5::9\n1::2::4::9\n2::2::3::9\n"
ONE, SMALL = "movielens-1m", "movielens-latest-small"


@pytest.fixture
def kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty data folder, not there yet."""
    monkeypatch.setenv("DPBANDITS_DATA", str(tmp_path / "data"))
    return tmp_path / "data"


@pytest.fixture
def owner(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The zip at its owner's, whose address and checksum stand in `SOURCES`: fixed for one set,
    beside the file for the other.
    """
    path = tmp_path / "ml-1m.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("ml-1m/movies.dat", FILMS)
        archive.writestr("ml-1m/ratings.dat", RATINGS)
    fixed = library.SOURCES[ONE]._replace(url=path.as_uri(), md5=md5(path))
    monkeypatch.setitem(library.SOURCES, ONE, fixed)
    monkeypatch.setitem(library.SOURCES, SMALL, library.SOURCES[SMALL]._replace(url=path.as_uri()))
    return path


def md5(path: Path) -> str:
    return hashlib.md5(path.read_bytes(), usedforsecurity=False).hexdigest()


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir()) if folder.exists() else []


def test_where_data_is_kept(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.delenv("DPBANDITS_DATA", raising=False)
    monkeypatch.delenv("XDG_DATA_HOME", raising=False)
    assert library.data_folder() == tmp_path / "home" / ".local" / "share" / "dpbandits"
    monkeypatch.setenv("XDG_DATA_HOME", "not/absolute")  # to be ignored, by its specification
    assert library.data_folder() == tmp_path / "home" / ".local" / "share" / "dpbandits"
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "shared"))
    assert library.data_folder() == tmp_path / "shared" / "dpbandits"
    monkeypatch.setenv("DPBANDITS_DATA", "~/here")
    assert library.data_folder() == tmp_path / "home" / "here"
    assert not library.data_folder().exists()


def test_sources_are_complete() -> None:
    for source in library.SOURCES.values():
        assert source.url == f"https://files.grouplens.org/datasets/movielens/{source.file}"
        assert source.md5 is None or len(bytes.fromhex(source.md5)) == 16
        assert "no commercial use" in source.licence
    assert library.SOURCES[ONE].md5 == "c4d9eecfca2ab87c1945afe126590906"
    assert library.SOURCES["movielens-100k"].md5 == "0e33842e24a9c977be4e0107933c0723"
    assert library.SOURCES[SMALL].md5 is None


def test_what_is_not_there_is_said_with_how_to_get_it(kept: Path) -> None:
    with pytest.raises(
        FileNotFoundError,
        match=(
            rf"{ONE} is not in .*data. Run `dpbandits data download {ONE}`, .*data add {ONE} "
            r"PATH`"
        ),
    ):
        library.find(ONE)
    for function in (library.find, library.download, lambda name: library.add(name, kept)):
        with pytest.raises(
            ValueError,
            match=r"one of the data sets movielens-100k, movielens-1m, .*; got 'movielens-2m'",
        ):
            function("movielens-2m")
    assert names(kept) == []


def test_download_keeps_what_has_the_right_checksum(kept: Path, owner: Path) -> None:
    path = library.download(ONE)
    assert path == library.find(ONE) == kept / "ml-1m.zip"
    assert names(kept) == ["ml-1m.zip"]
    assert path.read_bytes() == owner.read_bytes()
    assert movielens(path, films=2).ids == (2, 1)


def test_download_of_what_is_kept_fetches_nothing(kept: Path, owner: Path) -> None:
    library.download(ONE)
    owner.unlink()
    assert library.download(ONE) == kept / "ml-1m.zip"
    with pytest.raises(ConnectionError, match="Could not fetch"):
        library.download(ONE, again=True)
    assert movielens(library.find(ONE), films=2).people == 2  # the old copy is still there


def test_download_keeps_nothing_of_another_checksum(kept: Path, owner: Path) -> None:
    owner.write_bytes(owner.read_bytes()[:-1])
    with pytest.raises(
        DataError,
        match=(
            r"came with another checksum than its owner published \(md5 [0-9a-f]{32}\)\. Nothing "
            r"was kept"
        ),
    ):
        library.download(ONE)
    assert names(kept) == []


def test_download_says_what_failed(kept: Path, owner: Path) -> None:
    owner.unlink()
    with pytest.raises(
        ConnectionError,
        match=(
            r"Could not fetch file://.*ml-1m\.zip: .*Check the connection, or .*dpbandits data "
            r"add"
        ),
    ):
        library.download(ONE)
    assert names(kept) == []


def test_a_download_that_breaks_off_leaves_nothing(
    kept: Path, owner: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object, **__: object) -> object:
        class Answer:
            parts = iter([b"PK"])

            def __enter__(self) -> Answer:
                return self

            def __exit__(self, *_: object) -> None: ...

            def read(self, _: int) -> bytes:
                for part in self.parts:
                    return part
                raise ConnectionResetError("reset by peer")

        return Answer()

    monkeypatch.setattr("urllib.request.urlopen", broken)
    with pytest.raises(ConnectionError, match="reset by peer"):
        library.download(ONE)
    assert names(kept) == []


@pytest.mark.parametrize("text", ["MD5 (ml-1m.zip) = {}\n", "{}  ml-1m.zip\n"])
def test_a_checksum_published_beside_the_file(kept: Path, owner: Path, text: str) -> None:
    beside = owner.with_name("ml-1m.zip.md5")
    beside.write_text(text.format(md5(owner)))
    assert library.download(SMALL).name == "ml-latest-small.zip"
    beside.write_text(text.format("0" * 32))
    with pytest.raises(DataError, match="another checksum"):
        library.download(SMALL, again=True)
    beside.write_text("<html>not found</html>")
    with pytest.raises(DataError, match=r"Expected one md5 checksum in file://.*zip\.md5; found 0"):
        library.download(SMALL, again=True)
    assert names(kept) == ["ml-latest-small.zip"]


def test_add_a_zip(kept: Path, owner: Path) -> None:
    assert library.add(ONE, owner) == library.find(ONE) == kept / "ml-1m.zip"
    assert library.find(ONE).read_bytes() == owner.read_bytes()
    assert library.add(ONE, library.find(ONE)).read_bytes() == owner.read_bytes()  # itself
    assert library.add(SMALL, owner).name == "ml-latest-small.zip"  # no checksum to hold it to
    assert names(kept) == ["ml-1m.zip", "ml-latest-small.zip"]


def test_add_a_folder_keeps_the_two_files_as_a_zip(kept: Path, owner: Path, tmp_path: Path) -> None:
    with zipfile.ZipFile(owner) as archive:
        archive.extractall(tmp_path)
    (tmp_path / "ml-1m" / "private.txt").write_text("not asked for")
    with zipfile.ZipFile(library.add(ONE, tmp_path / "ml-1m")) as archive:
        assert sorted(archive.namelist()) == ["movies.dat", "ratings.dat"]
    assert movielens(library.find(ONE), films=2).ids == (2, 1)
    assert names(kept) == ["ml-1m.zip"]


def test_add_refuses_what_it_is_not(kept: Path, owner: Path, tmp_path: Path) -> None:
    with pytest.raises(
        DataError,
        match=(
            r"ml-1m\.zip to be ml-100k\.zip as its owner published it \(md5 0e33.*checksum "
            r"differs.*unpacked folder"
        ),
    ):
        library.add("movielens-100k", owner)
    with pytest.raises(FileNotFoundError, match="Expected a folder or a zip at"):
        library.add(ONE, tmp_path / "nowhere")
    (tmp_path / "text.zip").write_text("text")
    with pytest.raises(DataError, match=r"text\.zip is no zip"):
        library.add(SMALL, tmp_path / "text.zip")
    (tmp_path / "empty").mkdir()
    with pytest.raises(DataError, match="neither is complete"):
        library.add(ONE, tmp_path / "empty")
    (tmp_path / "empty" / "movies.dat").write_text(FILMS)
    (tmp_path / "empty" / "ratings.dat").write_text(RATINGS + "1::3\n")
    with pytest.raises(DataError, match=r"ratings\.dat, line 4: expected 4 fields"):
        library.add(ONE, tmp_path / "empty")
    assert names(kept) == []


def test_a_copy_that_fails_keeps_the_old_one(
    kept: Path, owner: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    library.add(ONE, owner)

    def full(*_: object) -> None:
        raise OSError("no space left")

    monkeypatch.setattr("shutil.copyfile", full)
    with pytest.raises(OSError, match="no space left"):
        library.add(ONE, owner)
    assert names(kept) == ["ml-1m.zip"]
    assert library.find(ONE).read_bytes() == owner.read_bytes()
