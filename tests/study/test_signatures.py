"""Keys and signatures: made once, kept with their owner, checked before anything is spent, found in no document."""

from __future__ import annotations

import base64
import json
import sys
from pathlib import Path
from typing import Any

import pytest

import tacit as tc
from tacit.errors import TacitError
from tacit.release import signing
from tacit.release.digests import body_of

STUDY = """
tacit = 1
[table]
name = "hips"
[budget]
epsilon = 1
neighbors = "add-remove"
[schema]
stay = { type = "Integer", lower = 0, upper = 60 }
[spend]
epsilon = 1
[ask.stay]
query = "Mean"
columns = "stay"
[parties.st-mary]
key = "KEY"
[parties.st-luke]
"""
SITE = 'name = "st-mary"\n[data]\npath = "rows.csv"\nledger = "st-mary.ledger"\nkey = "st-mary.private"\n'
RFC_8032 = (  # its section 7.1, tests 1 to 3: secret, public, message, signature
    (
        "9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60",
        "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a",
        "",
        "e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555fb8821590a33bacc61e39701cf9b46bd25bf5f0595bbe24"
        "655141438e7a100b",
    ),
    (
        "4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb",
        "3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c",
        "r",
        "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aee"
        "b00d291612bb0c00",
    ),
)


def study_of(key: str) -> tc.Study:
    return tc.Study.from_toml(STUDY.replace("KEY", key))


def code_of(action: Any) -> TacitError:
    with pytest.raises(TacitError) as caught:
        action()
    return caught.value


@pytest.fixture(name="home")
def a_hospital(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("rows.csv").write_text("stay\n" + "\n".join(str(i % 50) for i in range(300)), encoding="utf-8")
    Path("st-mary.toml").write_text(SITE, encoding="utf-8")
    return tmp_path


@pytest.mark.parametrize(("secret", "public", "message", "signature"), RFC_8032)
def test_the_examples_of_the_standard(secret: str, public: str, message: str, signature: str, home: Path) -> None:
    """A key file made by hand from the standard's bytes signs as the standard says, and verifies."""
    der = bytes.fromhex("302e020100300506032b657004220420" + secret)
    text = f"-----BEGIN PRIVATE KEY-----\n{base64.b64encode(der).decode()}\n-----END PRIVATE KEY-----\n"
    Path("own.private").write_text(text)
    Path("own.private").chmod(0o600)
    key = signing.signer("own.private")
    assert key.public == "ed25519:" + base64.b64encode(signing.HEAD + bytes.fromhex(public)).decode()
    made = key.sign(message)
    assert made == "ed25519:" + base64.b64encode(bytes.fromhex(signature)).decode()
    assert signing.verified(key.public, made, message)
    assert not signing.verified(key.public, made, message + " ")


def test_every_changed_bit_is_found(home: Path) -> None:
    key = signing.signer(_new("own.private"))
    made = base64.b64decode(key.sign("answer").removeprefix("ed25519:"))
    for at in range(0, 8 * len(made), 7):
        other = bytearray(made)
        other[at // 8] ^= 1 << at % 8
        assert not signing.verified(key.public, "ed25519:" + base64.b64encode(bytes(other)).decode(), "answer")
    for wrong in ("", "ed25519:", "ed25519:AAAA", "ed25519:%", base64.b64encode(made).decode()):
        assert not signing.verified(key.public, wrong, "answer")


def _new(path: str) -> str:
    signing.new_key(path)
    return path


def test_a_new_key_is_its_owners_and_never_written_over(home: Path) -> None:
    public = signing.new_key("st-mary.private")
    assert signing.is_public(public)
    assert Path("st-mary.private").stat().st_mode & 0o777 == 0o600
    before = Path("st-mary.private").read_bytes()
    assert code_of(lambda: signing.new_key("st-mary.private")).code == "C28"
    assert code_of(lambda: signing.new_key("nowhere/st-mary.private")).code == "C28"
    assert Path("st-mary.private").read_bytes() == before
    assert signing.signer("st-mary.private").public == public
    assert "PRIVATE" not in repr(signing.signer("st-mary.private"))
    assert signing.new_key("other.private") != public


def test_keys_that_do_not_serve(home: Path) -> None:
    Path("text.private").write_text("-----BEGIN PRIVATE KEY-----\nsecret words\n-----END PRIVATE KEY-----\n")
    Path("text.private").chmod(0o600)
    error = code_of(lambda: signing.signer("text.private"))
    assert (error.code, "secret" in str(error)) == ("C29", False)
    assert code_of(lambda: signing.signer("nowhere.private")).code == "C29"
    Path(_new("st-mary.private")).chmod(0o640)
    error = code_of(lambda: signing.signer("st-mary.private"))
    assert (error.code, "chmod 600" in str(error.hint)) == ("C29", True)


def test_a_site_with_a_key_signs_and_again_is_the_same_file(home: Path) -> None:
    study = study_of(signing.new_key("st-mary.private"))
    site = tc.Site.load("st-mary.toml", study)
    curator = tc.Curator(site.data, study, site=site)
    found = curator.release(study)
    found.save("answer.json")
    words = json.loads(Path("answer.json").read_text(encoding="utf-8"))
    assert signing.verified(str(study.parties["st-mary"].key), words["signature"], body_of(words))
    assert tc.Releases.load("answer.json") == found
    assert tc.Curator(site.data, study, site=site).release(study) == found
    result = study.combine(["answer.json"], effects="common")
    assert (result.signed, result.refused) == (("st-mary",), {})
    assert "not signed" not in str(result)
    unsigned = tc.Curator("rows.csv", study, name="st-mary", ledger="st-mary.ledger").release(study)
    assert unsigned.signature is None
    assert unsigned.signed("st-mary.private") == found  # of one question, at whatever time


def test_the_private_key_is_in_no_file_but_its_own(home: Path) -> None:
    """Neither its words nor its 32 bytes, in any writing: ledger, log, release."""
    study = study_of(signing.new_key("st-mary.private"))
    site = tc.Site.load("st-mary.toml", study)
    curator = tc.Curator(site.data, study, site=site)
    curator.release(study).save("answer.json")
    body = "".join(Path("st-mary.private").read_text().splitlines()[1:-1])
    raw = base64.b64decode(body)[-32:]
    forms = [body.encode(), raw, raw.hex().encode(), base64.b64encode(raw), raw.hex().upper().encode()]
    others = [one for one in home.iterdir() if one.name != "st-mary.private"]
    assert {"answer.json", "st-mary.ledger"} <= {one.name for one in others}
    assert not [one for one in others for form in forms if form in one.read_bytes()]
    assert not [form for form in forms if form in repr((vars(curator), site)).encode()]


def test_what_would_be_refused_later_is_refused_before_the_charge(home: Path) -> None:
    public = signing.new_key("st-mary.private")
    other = signing.new_key("other.private")
    assert code_of(lambda: tc.Site.load("st-mary.toml", study_of(other))).code == "C30"
    study = study_of(public)
    Path("st-mary.toml").write_text(SITE.replace('key = "st-mary.private"\n', ""))
    error = code_of(lambda: tc.Site.load("st-mary.toml", study))
    assert (error.code, error.hint) == ("C30", '[data], then key = "st-mary.private"')
    Path("st-mary.toml").write_text(SITE)
    site = tc.Site.load("st-mary.toml", study)
    curator = tc.Curator(site.data, study, site=site)
    Path("st-mary.private").chmod(0o644)
    error = code_of(lambda: curator.release(study))
    assert (error.code, len(list(curator.releases))) == ("C29", 0)
    assert str(error).endswith("Nothing was read or spent.")
    assert curator.remaining == "left 1.00 of 1.00"


def test_without_the_library_it_says_what_to_install(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    study = study_of(signing.new_key("st-mary.private"))
    answer = tc.Curator("rows.csv", study, name="st-mary", ledger="l.ledger").release(study).signed("st-mary.private")
    luke = tc.Curator("rows.csv", study, name="st-luke", ledger="m.ledger").release(study)
    monkeypatch.setitem(sys.modules, "cryptography.hazmat.primitives.asymmetric", None)
    for action in (
        lambda: signing.new_key("x.private"),
        lambda: signing.signer("st-mary.private"),
        lambda: study.combine({"st-mary": answer}, effects="common"),
    ):
        error = code_of(action)
        assert (error.code, error.hint) == ("C27", 'pip install "tacit[sign]"')
    assert study.combine({"st-luke": luke}, effects="common").parties == ("st-luke",)  # who has no key needs none
