"""A CA of our own for brokers on loopback, as PEM files."""

from __future__ import annotations

import datetime
import ipaddress
from dataclasses import dataclass
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

KEY_PASSWORD = "key-secret-41"
"""Of the client's private key."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Certificates:
    """Paths of the PEM files of one cluster."""

    ca: Path
    broker: Path
    client: Path
    client_key: Path


@dataclass(frozen=True, slots=True)
class _Authority:
    certificate: x509.Certificate
    key: ec.EllipticCurvePrivateKey


def make_certificates(folder: Path) -> Certificates:
    """Write a CA, a broker's certificate (for 127.0.0.1, not for localhost) and a client's with an encrypted key."""
    folder.mkdir(parents=True)
    files = Certificates(
        ca=folder / "ca.pem",
        broker=folder / "broker.pem",
        client=folder / "client.pem",
        client_key=folder / "client.key",
    )
    authority = _make_authority()
    files.ca.write_bytes(_certificate_pem(authority.certificate))
    key, certificate = _issue(authority, "broker")
    files.broker.write_bytes(_key_pem(key) + _certificate_pem(certificate))
    key, certificate = _issue(authority, "client")
    files.client.write_bytes(_certificate_pem(certificate))
    files.client_key.write_bytes(_key_pem(key, KEY_PASSWORD))
    return files


def make_stranger(path: Path) -> Path:
    """Write the certificate of a CA that signed nothing."""
    path.write_bytes(_certificate_pem(_make_authority().certificate))
    return path


def _make_authority() -> _Authority:
    key = ec.generate_private_key(ec.SECP256R1())
    name = _name("Kafka Capacity test CA")
    usage = x509.KeyUsage(
        digital_signature=True,
        key_cert_sign=True,
        crl_sign=True,
        content_commitment=False,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        encipher_only=False,
        decipher_only=False,
    )
    builder = _builder(name, name, key).add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
    return _Authority(builder.add_extension(usage, critical=True).sign(key, hashes.SHA256()), key)


def _issue(authority: _Authority, common_name: str) -> tuple[ec.EllipticCurvePrivateKey, x509.Certificate]:
    key = ec.generate_private_key(ec.SECP256R1())
    loopback = [x509.IPAddress(ipaddress.ip_address("127.0.0.1"))]
    identifier = x509.AuthorityKeyIdentifier.from_issuer_public_key(authority.key.public_key())
    certificate = (
        _builder(_name(common_name), authority.certificate.subject, key)
        .add_extension(x509.SubjectAlternativeName(loopback), critical=False)
        .add_extension(identifier, critical=False)
        .sign(authority.key, hashes.SHA256())
    )
    return key, certificate


def _builder(subject: x509.Name, issuer: x509.Name, key: ec.EllipticCurvePrivateKey) -> x509.CertificateBuilder:
    now = datetime.datetime.now(datetime.UTC)
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(days=1))
        .not_valid_after(now + datetime.timedelta(days=2))
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
    )


def _name(common_name: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, common_name)])


def _certificate_pem(certificate: x509.Certificate) -> bytes:
    return certificate.public_bytes(serialization.Encoding.PEM)


def _key_pem(key: ec.EllipticCurvePrivateKey, password: str | None = None) -> bytes:
    encryption: serialization.KeySerializationEncryption = serialization.NoEncryption()
    if password is not None:
        encryption = serialization.BestAvailableEncryption(password.encode())
    return key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, encryption)
