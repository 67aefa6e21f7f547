"""Certificates for a private broker and its clients, made with openssl and valid for a day."""
import subprocess
from pathlib import Path


def openssl(*words):
    subprocess.run(["openssl", *map(str, words)], check=True, capture_output=True, timeout=60)


def make_authority(folder, *names):
    """An authority, and a certificate from it for each name; the broker's is valid for 127.0.0.1."""
    folder = Path(folder)
    folder.mkdir(parents=True)
    curve = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes")
    openssl("req", "-x509", *curve, "-days", "1", "-subj", f"/CN=authority of {folder.name}", "-keyout", folder / "ca.key",
            "-out", folder / "ca.crt")
    (folder / "extensions").write_text("subjectAltName=IP:127.0.0.1,DNS:localhost\n")
    for name in names:
        openssl("req", *curve, "-subj", f"/CN={name}", "-keyout", folder / f"{name}.key", "-out", folder / f"{name}.csr")
        openssl("x509", "-req", "-days", "1", "-in", folder / f"{name}.csr", "-CA", folder / "ca.crt", "-CAkey", folder / "ca.key",
                "-CAcreateserial", "-out", folder / f"{name}.crt", "-extfile", folder / "extensions")
