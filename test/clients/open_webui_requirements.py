"""Prints what Open WebUI needs beside its own wheel, without torch and what only comes with it: `open_webui_requirements.py WHEEL`.

Quern makes the vectors and the speech, so the packages for models of Open WebUI's own are not needed; nor are readers of pictures in PDF
files, and clients of vector stores and databases that nobody chose.
"""

import re
import sys
import zipfile

LEFT_OUT = re.compile(
    r"^(accelerate|azure-ai|colbert|einops|fake-useragent|faster-whisper|opencv|opensearch|playwright|psycopg|pyarrow|pymysql|rapidocr|sentence-transformers|sentencepiece|transformers|youtube-transcript)"
)
# They come with what is left out, and are imported all the same.
BESIDE = ("nltk", "soundfile")

wheel = zipfile.ZipFile(sys.argv[1])
metadata = wheel.read(next(name for name in wheel.namelist() if name.endswith(".dist-info/METADATA"))).decode()
for requirement in re.findall(r"^Requires-Dist: (.+)$", metadata, re.MULTILINE):
    if "extra ==" not in requirement and not LEFT_OUT.match(requirement):
        print(requirement)
print("\n".join(BESIDE))
