"""python3 packages.py FOLDER VERSION EPOCH OS/ARCH=COMMAND...: the packages of a release, for npm and for pip.

For npm: isr-sim, and one package a platform with the command, which npm picks by os and cpu. For pip: one wheel a
platform. The same arguments give the same bytes. Needs nothing but Python.
"""

import base64
import gzip
import hashlib
import io
import json
import pathlib
import re
import sys
import tarfile
import time
import zipfile

folder, version, epoch = pathlib.Path(sys.argv[1]), sys.argv[2].removeprefix("v"), int(sys.argv[3])
commands = dict(pair.split("=", 1) for pair in sys.argv[4:])
clients = pathlib.Path(__file__).resolve().parents[2] / "clients"
licence = (clients.parent / "LICENSE").read_bytes()

NPM = {
    "linux/amd64": ("linux", "x64"), "linux/arm64": ("linux", "arm64"), "darwin/amd64": ("darwin", "x64"),
    "darwin/arm64": ("darwin", "arm64"), "windows/amd64": ("win32", "x64"), "windows/arm64": ("win32", "arm64"),
}
# The command is linked to nothing, and Go 1.26 needs Linux 3.2 and macOS 12.
WHEELS = {
    "linux/amd64": "manylinux_2_17_x86_64.manylinux2014_x86_64.musllinux_1_1_x86_64",
    "linux/arm64": "manylinux_2_17_aarch64.manylinux2014_aarch64.musllinux_1_1_aarch64",
    "darwin/amd64": "macosx_12_0_x86_64", "darwin/arm64": "macosx_12_0_arm64",
    "windows/amd64": "win_amd64", "windows/arm64": "win_arm64",
}


def npm(name, files):
    """Writes a package for npm: files are (name, bytes, whether it can be run)."""
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w", format=tarfile.USTAR_FORMAT) as tar:
        for path, data, runs in sorted(files):
            member = tarfile.TarInfo("package/" + path)
            member.size, member.mtime, member.mode = len(data), epoch, 0o755 if runs else 0o644
            tar.addfile(member, io.BytesIO(data))
    file = folder / f"{name.removeprefix('@').replace('/', '-')}-{version}.tgz"
    file.write_bytes(gzip.compress(packed.getvalue(), mtime=0))


def text(value):
    return (json.dumps(value, indent=2) + "\n").encode()


kit = json.loads((clients / "js" / "package.json").read_text())
kit["version"] = version
kit["optionalDependencies"] = {"@isr-sim/" + "-".join(at): version for at in NPM.values()}
npm("isr-sim", [("package.json", text(kit), False), ("LICENSE", licence, False)] + [
    (name, (clients / "js" / name).read_bytes(), name == kit["bin"]["isr-sim"]) for name in [*kit["files"], "README.md"]
])
for platform, command in commands.items():
    os, cpu = NPM[platform]
    binary = "isr-sim.exe" if os == "win32" else "isr-sim"
    about = {
        "name": f"@isr-sim/{os}-{cpu}", "version": version, "license": kit["license"], "os": [os], "cpu": [cpu],
        "description": f"The command of isr-sim for {os} on {cpu}: install the package isr-sim.",
        "preferUnplugged": True,
    }
    npm(about["name"], [("package.json", text(about), False), ("LICENSE", licence, False),
                        (binary, pathlib.Path(command).read_bytes(), True)])

# Go's version of a commit without a tag is v0.0.0-20261125035851-0123456789ab.
pseudo = re.fullmatch(r"(.*?)-(?:0\.)?(\d{14})-([0-9a-f]{12})(?:\+dirty)?", version)
python_version = f"{pseudo[1]}.dev{pseudo[2]}+{pseudo[3]}" if pseudo else version
project = (clients / "python" / "pyproject.toml").read_text()
metadata = "\n".join([
    "Metadata-Version: 2.1", "Name: isr-sim", "Version: " + python_version,
    "Summary: " + re.search(r'^description = "(.*)"$', project, re.M)[1],
    "Requires-Python: " + re.search(r'^requires-python = "(.*)"$', project, re.M)[1],
    "License: Apache-2.0", "Description-Content-Type: text/markdown", "",
    (clients / "python" / "README.md").read_text(),
])
for platform, command in commands.items():
    about = f"isr_sim-{python_version}.dist-info"
    script = "isr-sim.exe" if platform.startswith("windows") else "isr-sim"
    python = clients / "python"
    files = {str(path.relative_to(python)): path.read_bytes() for path in python.glob("isr_sim*/*.py")}
    files["isr_sim_pytest.py"] = (python / "isr_sim_pytest.py").read_bytes()
    files[f"isr_sim-{python_version}.data/scripts/{script}"] = pathlib.Path(command).read_bytes()
    files[about + "/METADATA"] = metadata.encode()
    files[about + "/LICENSE"] = licence
    files[about + "/entry_points.txt"] = b"[pytest11]\nisr_sim = isr_sim_pytest\n"
    tags = "".join(f"Tag: py3-none-{tag}\n" for tag in WHEELS[platform].split("."))
    files[about + "/WHEEL"] = f"Wheel-Version: 1.0\nGenerator: isr-sim\nRoot-Is-Purelib: false\n{tags}".encode()
    record = ""
    for name, data in sorted(files.items()):
        digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
        record += f"{name},sha256={digest},{len(data)}\n"
    files[about + "/RECORD"] = (record + about + "/RECORD,,\n").encode()
    file = folder / f"isr_sim-{python_version}-py3-none-{WHEELS[platform]}.whl"
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as wheel:
        for name, data in sorted(files.items()):
            member = zipfile.ZipInfo(name, time.gmtime(epoch)[:6])
            member.compress_type, member.create_system = zipfile.ZIP_DEFLATED, 3
            member.external_attr = (0o100755 if "/scripts/" in name else 0o100644) << 16
            wheel.writestr(member, data)
