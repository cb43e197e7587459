#!/usr/bin/env bash
# Gets the engines that no Python package of ours depends on, each through its own package manager, into the folder that
# BYTEROUTE_ENGINES names (default: ~/.cache/byteroute/engines). What cannot be had is said, and noted in NAME.missing
# for the tests, which then skip with that reason. Never fails: a machine without Go or Java can still run the rest.
set -uo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
python=${PYTHON:-$root/.venv/bin/python}
place=${BYTEROUTE_ENGINES:-$HOME/.cache/byteroute/engines}
beam=$("$python" -c 'import apache_beam.version as v; print(v.__version__)')
flink=$("$python" -c 'from byteroute.runners.flink import FLINK_VERSION as v; print(v)')
mkdir -p "$place"

missing() { # NAME REASON
  echo "$2" >"$place/$1.missing"
  echo "get_engines: no $1: $2" >&2
}

get_prism() {
  [ -x "$place/prism" ] && return
  command -v go >/dev/null || { missing prism "go is not installed"; return; }
  echo "get_engines: building prism $beam (minutes, once)" >&2
  GOBIN="$place" timeout 900 go install "github.com/apache/beam/sdks/v2/go/cmd/prism@v$beam" 2>"$place/prism.log" ||
    { missing prism "go install of version $beam failed: $(tail -n 1 "$place/prism.log")"; return; }
  rm -f "$place/prism.missing"
}

why_not_served() { # JAR
  if grep -q "Could not find artifact\|was not found" "$place/flink-job-server.log"; then
    echo "the Maven repository does not serve $1"
  else
    echo "mvn failed: $(grep -m 1 ERROR "$place/flink-job-server.log" | cut -c 1-200)"
  fi
}

get_flink_job_server() {
  local jar="beam-runners-flink-$flink-job-server-$beam.jar"
  [ -f "$place/$jar" ] && return
  command -v mvn >/dev/null || { missing flink-job-server "mvn is not installed"; return; }
  timeout 300 mvn --quiet --batch-mode dependency:copy -DoutputDirectory="$place" -Dmdep.useBaseVersion=true \
    -Dartifact="org.apache.beam:beam-runners-flink-$flink-job-server:$beam" >"$place/flink-job-server.log" 2>&1 ||
    { missing flink-job-server "$(why_not_served "$jar")"; return; }
  rm -f "$place/flink-job-server.missing"
}

get_flink() {
  [ -d "$place/flink/pyflink" ] && return
  "$python" -m pip install --quiet --disable-pip-version-check --no-deps --target "$place/flink" \
    "apache-flink-libraries~=$flink.0" 2>"$place/flink.log" ||
    { missing flink "pip found no apache-flink-libraries $flink"; return; }
  rm -f "$place/flink.missing"
}

get_prism
get_flink_job_server
get_flink
exit 0
