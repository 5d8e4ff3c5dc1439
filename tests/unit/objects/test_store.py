"""Objects by key: what every store must do, and what is particular to each."""

import hashlib
import os

import pytest
from botocore.exceptions import ClientError, IncompleteReadError

from kafka_capacity.errors import MissingObjectError, StorageError
from kafka_capacity.objects.store import LocalStore, S3Store, open_store


def test_what_is_written_is_read(store):
    store.write_bytes("a/b.json", b"{}", content_type="application/json")

    assert store.read_bytes("a/b.json") == b"{}"
    assert store.exists("a/b.json")
    assert not store.exists("a/b")


def test_writing_again_replaces_the_whole_object(store):
    store.write_bytes("a", b"a long first text")
    store.write_bytes("a", b"short")

    assert store.read_bytes("a") == b"short"


def test_keys_are_listed_sorted_below_a_prefix_of_text(store):
    for key in ("b/2", "b/10", "a", "b/c/d", "bc"):
        store.write_bytes(key, b"")

    assert list(store.list_objects("")) == ["a", "b/10", "b/2", "b/c/d", "bc"]
    assert list(store.list_objects("b/")) == ["b/10", "b/2", "b/c/d"]
    assert list(store.list_objects("b")) == ["b/10", "b/2", "b/c/d", "bc"]
    assert list(store.list_objects("nothing/")) == []


def test_folders_are_the_names_one_level_below(store):
    for key in ("x/b/1", "x/a/1", "x/a/2", "x/file", "y/c/1"):
        store.write_bytes(key, b"")

    assert store.list_folders("x/") == ["a", "b"]
    assert store.list_folders("nothing/") == []


def test_deleting_twice_is_no_mistake(store):
    store.write_bytes("a", b"1")
    store.delete("a")
    store.delete("a")

    assert not store.exists("a")
    assert list(store.list_objects("")) == []


@pytest.mark.parametrize("key", ["reports", "reports/a.html/b", "n" * 400])
def test_a_folder_or_a_name_that_no_file_has_is_not_there(tmp_path, key):
    store = LocalStore(tmp_path)
    store.write_bytes("reports/a.html", b"")
    with pytest.raises(MissingObjectError):
        store.read_bytes(key)


def test_reading_what_is_not_there_is_our_error(store):
    with pytest.raises(StorageError, match=r"missing\.json"):
        store.read_bytes("missing.json")


def test_an_address_is_what_a_user_would_write(tmp_path, s3_client):
    assert S3Store("planning", "/team/kafka/", s3_client).uri("a/b") == "s3://planning/team/kafka/a/b"
    assert S3Store("planning", "", s3_client).uri("a") == "s3://planning/a"
    assert LocalStore(tmp_path).uri("a/b") == str(tmp_path / "a" / "b")


def test_s3_lists_more_than_one_page_and_knows_media_types(s3_client):
    store = S3Store("planning", "", s3_client)
    for number in range(1005):
        store.write_bytes(f"many/{number:04d}", b"", content_type="text/plain")

    assert len(store.list_objects("many/")) == 1005
    assert s3_client.head_object(Bucket="planning", Key="many/0000")["ContentType"] == "text/plain"


def test_a_bucket_that_is_not_there_is_our_error(s3_client):
    store = S3Store("elsewhere", "", s3_client)
    for does in (
        lambda: store.read_bytes("a"),
        lambda: store.write_bytes("a", b""),
        lambda: store.list_objects(""),
        lambda: store.delete("a"),
    ):
        with pytest.raises(StorageError, match=r"^could not \w+ s3://elsewhere/"):
            does()


@pytest.mark.parametrize("key", ["../outside", "a/../../outside", "/etc/passwd"])
def test_no_key_leaves_the_folder(tmp_path, key):
    store = LocalStore(tmp_path / "objects")

    with pytest.raises(StorageError, match="leaves the folder"):
        store.write_bytes(key, b"")
    assert not (tmp_path / "outside").exists()


def test_a_write_that_fails_leaves_the_old_file_and_no_rest(tmp_path, monkeypatch):
    store = LocalStore(tmp_path)
    store.write_bytes("plan.json", b"old")

    def full_disk(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("pathlib.Path.replace", full_disk)
    with pytest.raises(OSError, match="No space left"):
        store.write_bytes("plan.json", b"new")

    assert store.read_bytes("plan.json") == b"old"
    assert [path.name for path in tmp_path.iterdir()] == ["plan.json"]


def test_a_file_that_is_being_written_is_not_listed(tmp_path):
    (tmp_path / ".writing-abc").mkdir()
    (tmp_path / ".writing-abc" / "0").write_bytes(b"half")

    assert list(LocalStore(tmp_path).list_objects("")) == []
    assert LocalStore(tmp_path).list_folders("") == []


def test_a_file_has_the_mode_that_the_umask_leaves(tmp_path):
    before = os.umask(0o077)
    try:
        LocalStore(tmp_path).write_bytes("a", b"")
    finally:
        os.umask(before)
    assert (tmp_path / "a").stat().st_mode & 0o777 == 0o600


def test_an_object_is_replaced_only_where_it_is_what_the_writer_knows(store):
    assert not store.replace_bytes("a", b"1", expected_sha256="0" * 64)
    assert store.replace_bytes("a", b"1", expected_sha256=None)
    assert not store.replace_bytes("a", b"2", expected_sha256=None)
    assert store.replace_bytes("a", b"2", expected_sha256=hashlib.sha256(b"1").hexdigest())
    assert not store.replace_bytes("a", b"3", expected_sha256=hashlib.sha256(b"1").hexdigest())
    assert store.read_bytes("a") == b"2"
    assert list(store.list_objects("")) == ["a"]


def test_files_that_belong_together_take_the_place_of_those_before(store):
    store.write_together({"a": b"1", "w/b": b"1"})
    store.write_together({"a": b"2", "c": b"2"}, drop=["w/b", "never there"])

    assert {key: store.read_bytes(key) for key in store.list_objects("")} == {"a": b"2", "c": b"2"}


def test_a_full_disk_leaves_all_files_of_before(tmp_path, monkeypatch):
    store = LocalStore(tmp_path)
    store.write_together({"a": b"1", "b": b"1"})
    write = type(tmp_path).write_bytes

    def full(path, data):
        if path.name == "1":
            raise OSError(28, "No space left on device")
        return write(path, data)

    monkeypatch.setattr("pathlib.Path.write_bytes", full)
    with pytest.raises(OSError, match="No space left"):
        store.write_together({"a": b"2", "b": b"2"})
    assert {key: store.read_bytes(key) for key in store.list_objects("")} == {"a": b"1", "b": b"1"}
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a", "b"]


def test_s3_is_asked_again_where_that_may_help_and_not_where_it_does_not(s3_client, monkeypatch):
    store = S3Store("planning", "", s3_client)
    store.write_bytes("a", b"whole")
    answers = [lambda: IncompleteReadError(actual_bytes=1, expected_bytes=5), lambda: _answer(503, "SlowDown")]
    get = s3_client.get_object

    def flaky(**options):
        if answers:
            raise answers.pop()()
        return get(**options)

    monkeypatch.setattr(s3_client, "get_object", flaky)
    assert store.read_bytes("a") == b"whole"
    answers[:] = [lambda: _answer(200, "never asked for"), lambda: _answer(403, "AccessDenied")]
    with pytest.raises(StorageError, match=r"^could not read s3://planning/a: .*AccessDenied"):
        store.read_bytes("a")
    assert len(answers) == 1


def _answer(status, code):
    return ClientError({"Error": {"Code": code}, "ResponseMetadata": {"HTTPStatusCode": status}}, "GetObject")


def test_addresses_open_the_right_store(tmp_path, s3_client):
    for address in ("s3://planning/team", "s3a://planning/team/"):
        assert open_store(address, s3_client=s3_client).uri("k") == "s3://planning/team/k"
    assert open_store(str(tmp_path)).uri("k") == str(tmp_path / "k")
    assert open_store(f"file://{tmp_path}").uri("k") == str(tmp_path / "k")


@pytest.mark.parametrize(
    ("address", "message"),
    [
        ("s3://", "'s3://' does not name a valid bucket; write it as s3://bucket/prefix"),
        ("s3://Has Space/x", "'s3://Has Space/x' does not name a valid bucket; write it as s3://bucket/prefix"),
        ("gs://b/x", "'gs://b/x' is neither an s3:// address nor a path; write s3://bucket/prefix or a folder"),
    ],
)
def test_an_address_that_names_nothing_is_refused(address, message):
    with pytest.raises(StorageError) as refused:
        open_store(address)
    assert str(refused.value) == message
