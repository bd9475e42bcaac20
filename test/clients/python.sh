#!/usr/bin/env bash
# Drives the Python clients of docs/clients.md, aider, Continue's `cn` and Open WebUI against a daemon with the built-in model, and writes
# the table there. `test/clients/python.sh [FOLDER]`: the clients are installed into FOLDER (build/python-clients) and stay there, 1.9 GB.
# CLIENTS picks some (sdk llm aider cn open-webui); then nothing is written. Needs a build (npm start or npm test makes one), Python 3.11 or 3.12 with venv (QUERN_PYTHON), and npm.
set -euo pipefail
cd "$(dirname "$0")/../.."
root=$PWD
python=${QUERN_PYTHON:-python3}
place=$(realpath -m "${1:-build/python-clients}")
clients=${CLIENTS:-sdk llm aider cn open-webui}
AIDER=0.86.2 LLM=0.36 CN=1.5.47 OPEN_WEBUI_VERSION=0.12.4
commit=$(git -c safe.directory="$root" describe --always --abbrev=10 --exclude '*' --dirty 2>/dev/null || echo unknown)
mkdir -p "$place"

venv() { # NAME MARK PIP_ARGUMENTS...: a virtual environment, made anew where what it holds is not MARK
  local name=$1 mark=$2
  shift 2
  if [ "$(cat "$place/$name/made-of" 2>/dev/null)" != "$mark" ]; then
    echo "installing $name ..."
    rm -rf "${place:?}/$name"
    "$python" -m venv "$place/$name"
    "$place/$name/bin/pip" install --quiet --no-compile --disable-pip-version-check "$@"
    echo "$mark" >"$place/$name/made-of"
  fi
}

install_open_webui() {
  [ "$(cat "$place/open-webui/made-of" 2>/dev/null)" = "$OPEN_WEBUI_VERSION" ] && return
  local wheels
  wheels=$(mktemp -d)
  "$python" -m pip download --quiet --disable-pip-version-check --no-deps --dest "$wheels" "open-webui==$OPEN_WEBUI_VERSION"
  "$python" test/clients/open_webui_requirements.py "$wheels"/*.whl >"$wheels/requirements.txt"
  venv open-webui "its requirements" -r "$wheels/requirements.txt"
  "$place/open-webui/bin/pip" install --quiet --no-compile --disable-pip-version-check --no-deps "$wheels"/*.whl
  echo "$OPEN_WEBUI_VERSION" >"$place/open-webui/made-of"
  rm -rf "$wheels"
}

for client in $clients; do
  case $client in
    sdk) venv sdk "$(cat test/clients/requirements.txt)" -r test/clients/requirements.txt ;;
    # It wants another OpenAI library than the others.
    llm) venv llm "$LLM" "llm==$LLM" ;;
    aider) venv aider "$AIDER" "aider-chat==$AIDER" ;;
    cn) [ -x "$place/cn/node_modules/.bin/cn" ] || npm install --prefix "$place/cn" --silent --no-audit --no-fund --ignore-scripts "@continuedev/cli@$CN" ;;
    open-webui) install_open_webui ;;
    *) echo "there is no client $client: sdk, llm, aider, cn, open-webui" >&2 && exit 2 ;;
  esac
done
node scripts/speech-kit.mjs

work=$(mktemp -d)
processes=()
finish() {
  for process in "${processes[@]}"; do kill "$process" 2>/dev/null || true; done
  wait
  rm -rf "$work"
}
trap finish EXIT
free_port() { node -e 'const s = require("net").createServer().listen(0, "127.0.0.1", () => { console.log(s.address().port); s.close(); })'; }
answers() { # URL SECONDS LOG: waits until a server answers
  for _ in $(seq "$2"); do
    curl -sf -o /dev/null "$1" && return
    sleep 1
  done
  echo "$1 did not answer:" >&2
  tail -n 30 "$3" >&2
  exit 1
}

core=$(free_port) runtime=$(free_port)
HF_HUB_CACHE=$root/build/speech-kit HF_HUB_OFFLINE=1 node build/bundle/main.js start --port "$core" --runtime-port "$runtime" \
  --data-dir "$work/data" >"$work/daemon.log" 2>&1 &
processes+=($!)
export QUERN_CORE=http://127.0.0.1:$core QUERN_RUNTIME=http://127.0.0.1:$runtime RESULTS=$work/results.jsonl PYTHONDONTWRITEBYTECODE=1
# What clients write about themselves does not mix with what the user of this machine has.
export HOME=$work/home LLM_USER_PATH=$work/llm ANONYMIZED_TELEMETRY=false DO_NOT_TRACK=true SCARF_NO_ANALYTICS=true
mkdir -p "$HOME"
touch "$RESULTS"
answers "$QUERN_CORE/health/liveness" 60 "$work/daemon.log"

start_open_webui() {
  local port data=$work/open-webui
  port=$(free_port)
  mkdir -p "$data"
  export OPEN_WEBUI=http://127.0.0.1:$port OPEN_WEBUI_VERSION
  (
    cd "$data"
    export DATA_DIR=$data WEBUI_AUTH=False WEBUI_SECRET_KEY=of-this-test OFFLINE_MODE=true HF_HUB_OFFLINE=1
    export OLLAMA_BASE_URL=$QUERN_RUNTIME OPENAI_API_BASE_URL=$QUERN_RUNTIME/v1 OPENAI_API_KEY=none
    export RAG_EMBEDDING_ENGINE=openai RAG_EMBEDDING_MODEL=quern-tiny RAG_OPENAI_API_BASE_URL=$QUERN_RUNTIME/v1 RAG_OPENAI_API_KEY=none
    export AUDIO_TTS_ENGINE=openai AUDIO_TTS_OPENAI_API_BASE_URL=$QUERN_RUNTIME/v1 AUDIO_TTS_OPENAI_API_KEY=none AUDIO_TTS_MODEL=tts-1 AUDIO_TTS_VOICE=alloy
    export AUDIO_STT_ENGINE=openai AUDIO_STT_OPENAI_API_BASE_URL=$QUERN_RUNTIME/v1 AUDIO_STT_OPENAI_API_KEY=none AUDIO_STT_MODEL=whisper-1
    exec "$place/open-webui/bin/open-webui" serve --host 127.0.0.1 --port "$port"
  ) >"$work/open-webui.log" 2>&1 &
  processes+=($!)
  answers "$OPEN_WEBUI/health" 180 "$work/open-webui.log"
}

failed=0
drive() { timeout 600 "$@" || failed=1; }
for client in $clients; do
  case $client in
    sdk) for one in openai anthropic ollama langchain llama_index; do drive "$place/sdk/bin/python" "test/clients/${one}_sdk.py"; done ;;
    llm) drive "$python" test/clients/llm_cli.py "$place/llm/bin/llm" ;;
    # These two put what is in the folder into their prompts: an empty one leaves room for an answer.
    aider) (cd "$HOME" && timeout 600 "$python" "$root/test/clients/aider_cli.py" "$place/aider/bin/aider") || failed=1 ;;
    cn) (cd "$HOME" && timeout 600 "$python" "$root/test/clients/continue_cli.py" "$place/cn/node_modules/.bin/cn") || failed=1 ;;
    open-webui) start_open_webui && drive "$python" test/clients/open_webui.py ;;
  esac
done

if [ -z "${CLIENTS:-}" ]; then
  facts="Run on $(date -u +%Y-%m-%d) at commit \`$commit\` with Node $(node --version), $("$python" --version), the built-in model \`quern-tiny\`, Kokoro and Whisper tiny. An empty cell: the client has no such thing."
  "$python" test/clients/matrix.py "$RESULTS" docs/clients.md "$facts"
fi
exit "$failed"
