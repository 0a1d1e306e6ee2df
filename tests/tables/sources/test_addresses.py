"""No part of a user's name or password in the address of a database is ever shown."""

from __future__ import annotations

import pytest

from separatrix.tables.sources.opening import open_source

PARTS = ["s3cr", "t0p", "xyzzy"]


def refusal(address):
    with pytest.raises(ValueError, match=r"\S") as caught:
        open_source(None, sql="select 1", db=address)
    message = str(caught.value)
    assert "\n" not in message
    for part in ("mallory", *PARTS):
        assert part not in message
    return message


@pytest.mark.parametrize("letter", ["/", "@"])
def test_letters_that_end_the_user_part_must_be_encoded(letter):
    for password in (letter.join(PARTS), f"s3cr{letter}", f"{letter}t0p", f"s3cr:{letter}t0p?xyzzy"):
        message = refusal(f"postgresql://mallory:{password}@127.0.0.1:1/db")
        assert message.startswith("the address of the database has / or @ in its user part, which must be encoded")


@pytest.mark.parametrize(
    "password",
    ["s3cr:t0p", "s3cr#t0p#xyzzy", "s3cr?t0p", "s3cr&t0p=xyzzy", "s3cr%2Ft0p%40xyzzy", "s3cr%zzt0p", "s3cr%00t0p",
     "s3cr t0p", "s3cr%", "s3cr'\"t0p", "s3cr[t0p"],
)  # fmt: skip
def test_a_password_is_not_shown_whatever_its_letters(password):
    for user in (f"mallory:{password}", f"mallory:{password}:x", f":{password}"):
        refusal(f"postgresql://{user}@127.0.0.1:1/db")
        refusal(f"postgresql://{user}@127.0.0.1:port/db?a=b")
        refusal(f"postgresql://{user}@[::1/db")


@pytest.mark.parametrize(
    "more", ["?password=s3cr", "?connect_timeout=2&password=s3cr%2Ft0p", "?sslpassword=s3cr", "?password=s3cr%zzxyzzy"]
)
def test_a_password_among_the_options_is_not_shown(more):
    refusal(f"postgresql://mallory@127.0.0.1:1/db{more}")
    refusal(f"postgresql://127.0.0.1:1/db{more}&nonsense=7")


@pytest.mark.parametrize(
    "place",
    [
        "mallory:s3cr@127.0.0.1:1/db?application_name=me@work",
        "mallory:s3cr@[::1]:1,127.0.0.1:1/db?connect_timeout=2&application_name=me@work",
        "127.0.0.1:1/db?user=mallory@corp&password=s3cr",
        "127.0.0.1:1/db?user=mallory&password=s3cr/t0p@xyzzy",
        "/db?host=/nowhere&user=mallory@corp",
    ],
)
def test_options_may_have_an_at_sign(place):
    message = refusal(f"postgresql://{place}")
    assert message.startswith("cannot connect to the database: ")


@pytest.mark.parametrize(
    "place",
    [
        "mallory:s3cr/t0p?user=xyzzy@127.0.0.1:1/db",
        "mallory:s3cr@t0p/xyzzy?user=a@127.0.0.1:1/db",
        "mallory:12/s3cr?t0p=xyzzy@127.0.0.1:1/db",
        "mallory:12/s3cr?t0p@127.0.0.1:1/db?user=me",
    ],
)
def test_a_password_that_looks_like_an_option_must_be_encoded(place):
    message = refusal(f"postgresql://{place}")
    assert message.startswith("the address of the database has / or @ in its user part, which must be encoded")
