/**
 * A program that answers as `busctl` does for a systemd that knows slices only. Its state is files beside it: `calls`
 * (one line each), `units/UNIT` (ActiveState), `cgroup/` (the tree systemd would make), `refuse/METHOD` (what it says
 * instead), `hang/METHOD` (it writes its process id there, says nothing and ignores SIGTERM).
 */
import { chmod, mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";

const SCRIPT = String.raw`#!/bin/sh
here=$(dirname "$0")
printf '%s\n' "$*" >>"$here/calls"
# --system --json=short -- VERB SERVICE OBJECT INTERFACE
shift 7
method=$1
if [ -f "$here/refuse/$method" ]; then cat "$here/refuse/$method" >&2; exit 1; fi
if [ -f "$here/hang/$method" ]; then echo $$ >"$here/hang/$method"; trap "" TERM; exec sleep 600; fi
fail() { echo "Call failed: $1" >&2; exit 1; }
job() { echo '{"type":"o","data":["/org/freedesktop/systemd1/job/1"]}'; }
path() {
  way= unit= rest=$(printf '%s' "$1" | sed 's/\.slice$//')
  while [ -n "$rest" ]; do
    unit=$unit$(printf '%s' "$rest" | cut -d- -f1)
    way=$way/$unit.slice unit=$unit-
    case $rest in *-*) rest=$(printf '%s' "$rest" | cut -d- -f2-) ;; *) rest= ;; esac
  done
  echo "$here/cgroup$way"
}
start() { echo active >"$here/units/$1"; mkdir -p "$(path "$1")"; job; }
case $method in
  Version) echo '{"type":"s","data":"252.38-1~deb12u1"}' ;;
  ListUnitsByNames)
    state=$(cat "$here/units/$4" 2>/dev/null || echo inactive)
    printf '{"type":"a(ssssssouso)","data":[[["%s","","loaded","%s","","","/",0,"","/"]]]}\n' "$4" "$state" ;;
  StartTransientUnit) [ -f "$here/units/$3" ] && fail "Unit $3 was already loaded."; start "$3" ;;
  StartUnit) start "$3" ;;
  SetUnitProperties) [ -f "$here/units/$3" ] || fail "Unit $3 not found." ;;
  StopUnit) [ -f "$here/units/$3" ] || fail "Unit $3 not loaded."; rm -r "$here/units/$3" "$(path "$3")"; job ;;
  ResetFailedUnit) [ -f "$here/units/$3" ] || fail "Unit $3 not loaded." ;;
  *) fail "Unknown method $method" ;;
esac
`;

/** A fake busctl program with injected faults for calls of a method. */
export interface FakeBusctl {
  readonly program: string;
  /** Directory of its systemd's cgroups. */
  readonly cgroupDir: string;
  /** Every call so far, without what they all begin with. */
  calls(): Promise<readonly string[]>;
  refuse(method: string, message: string): Promise<void>;
  hang(method: string): Promise<void>;
  /** The process that hangs; empty before it does. */
  hanging(method: string): Promise<string>;
}

const PREFIX =
  /^--system --json=short -- (call|get-property) org\.freedesktop\.systemd1 \/org\/freedesktop\/systemd1 org\.freedesktop\.systemd1\.Manager /;

/** Puts the program into a directory. */
export async function fakeBusctl(dir: string): Promise<FakeBusctl> {
  const program = join(dir, "busctl");
  const at = (...steps: readonly string[]): string => join(dir, ...steps);
  await Promise.all(["units", "cgroup", "refuse", "hang"].map((name) => mkdir(at(name))));
  await writeFile(program, SCRIPT);
  await chmod(program, 0o755);
  return {
    program,
    cgroupDir: at("cgroup"),
    calls: async () =>
      (await readFile(at("calls"), "utf8"))
        .trimEnd()
        .split("\n")
        .map((line) => line.replace(PREFIX, "")),
    refuse: (method, message) => writeFile(at("refuse", method), message),
    hang: (method) => writeFile(at("hang", method), ""),
    hanging: async (method) => (await readFile(at("hang", method), "utf8")).trim(),
  };
}
