"""A Java trust store from the CA bundle that the environment names.

A JRE has a CA store of its own and ignores the system's, so downloads fail where a company's proxy signs with a CA of
its own. What Python's tools are told by ``SSL_CERT_FILE`` or ``REQUESTS_CA_BUNDLE``, Java is told here.
"""

from __future__ import annotations

import contextlib
import os
import re
import warnings
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives.serialization import BestAvailableEncryption
from cryptography.hazmat.primitives.serialization.pkcs12 import PKCS12Certificate, serialize_java_truststore
from cryptography.utils import CryptographyDeprecationWarning

PEM_BLOCK = re.compile(rb"-----BEGIN CERTIFICATE-----.+?-----END CERTIFICATE-----", re.DOTALL)
PASSWORD = "changeit"
"""Java's own default. It protects nothing: the store holds public certificates."""


def ca_bundle() -> Path | None:
    """Find the PEM bundle that the environment names."""
    for name in ("SSL_CERT_FILE", "REQUESTS_CA_BUNDLE"):
        path = Path(os.environ.get(name, ""))
        if path.is_file():
            return path
    return None


def java_options(folder: Path) -> list[str]:
    """Write the trust store into a folder, where there is need for one, and give the options that name it."""
    bundle = ca_bundle()
    if bundle is None:
        return []
    store = write_truststore(read_certificates(bundle), folder / "truststore.p12")
    return [
        f"-Djavax.net.ssl.trustStore={store}",
        "-Djavax.net.ssl.trustStoreType=PKCS12",
        f"-Djavax.net.ssl.trustStorePassword={PASSWORD}",
    ]


def read_certificates(bundle: Path) -> list[x509.Certificate]:
    """Read a PEM bundle, without the certificates that break the rules: system bundles have old ones of that kind."""
    found = []
    for block in PEM_BLOCK.findall(bundle.read_bytes()):
        with warnings.catch_warnings(), contextlib.suppress(ValueError):
            warnings.simplefilter("ignore", CryptographyDeprecationWarning)
            found.append(x509.load_pem_x509_certificate(block))
    return found


def write_truststore(certificates: list[x509.Certificate], path: Path) -> Path:
    entries = [PKCS12Certificate(certificate, b"ca-%d" % i) for i, certificate in enumerate(certificates)]
    path.write_bytes(serialize_java_truststore(entries, BestAvailableEncryption(PASSWORD.encode())))
    return path
