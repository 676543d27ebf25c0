/**
 * The two shell texts that start a container. `supervise` (one file for all, run by /bin/sh, about 1 MB each) is the
 * parent of the container's main process: it owns its process group, outlives the runtime and writes the exit code.
 * `enter` (one file per container, mode 0600) sets the exact environment, so that no value shows in a process list.
 */
import os from "node:os";

/** File descriptors the supervisor is started with, beside 0 to 2 which are /dev/null. */
export const SUPERVISOR_FDS = ["stdout", "stderr", "alive"] as const;

/**
 * Numbers of every catchable signal (names differ between shells, and one unknown ends the list): the group is
 * signalled as a whole and its supervisor has to survive that.
 */
function catchable(platform: NodeJS.Platform, known: Readonly<Record<string, number>>): readonly number[] {
  const spared = ["SIGKILL", "SIGSTOP", "SIGCHLD"].map((name) => known[name]);
  const named = new Set(Object.values(known).filter((number) => !spared.includes(number)));
  const realTime = platform === "linux" ? Array.from({ length: 31 }, (_, index) => 34 + index) : [];
  return [...named, ...realTime].sort((a, b) => a - b);
}

/**
 * `$1` is the container's directory, the rest its command. `trap :` (not `trap ''`) leaves the defaults to the child,
 * which writes `pid` (the supervisor's) once it has them: from then on no signal is lost. Holding 3 and 4 open to the end keeps output that nobody has read yet; closing 5 says that `exit` is written. Then
 * it waits, without using any CPU, to be killed by whoever has read the rest.
 */
export function superviseScript(
  platform: NodeJS.Platform,
  signals: Readonly<Record<string, number>> = os.constants.signals,
): string {
  return `d=$1
shift
trap : ${catchable(platform, signals).join(" ")}
( echo $$ >"$d/pid"; exec >&3 2>&4 3>&- 4>&- 5>&-; . "$d/enter" )
echo $? >"$d/exit"
exec 5>&-
while [ -p "$d/alive" ]; do read -r never <"$d/alive"; done
`;
}

/** Names that a shell sets itself, treats specially or cannot export as they are: those go through env(1). */
const SHELL_OWN =
  /^(_|PWD|OLDPWD|SHLVL|PPID|E?UID|GROUPS|IFS|OPT(IND|ARG|ERR)|LINENO|S?RANDOM|SECONDS|EPOCH.*|BASH.*|SHELLOPTS|POSIXLY_CORRECT|FUNC.*|DIRSTACK|PIPESTATUS|HIST.*|COMP_.*|LANG|LC_.*|PS[0-4]|P?ENV|MAIL.*|TMOUT|status|argv|path)$/;
const SHELL_NAME = /^[A-Za-z_][A-Za-z0-9_]*$/;

const quote = (value: Uint8Array): Buffer =>
  Buffer.from(`'${Buffer.from(value).toString("latin1").replaceAll("'", "'\\''")}'`, "latin1");

/** Bytes of the file that replaces the shell sourcing it by `"$@"` with exactly these variables. */
export function enterScript(env: ReadonlyMap<string, Uint8Array>): Buffer {
  const parts: Buffer[] = [];
  const throughEnv: Buffer[] = [];
  for (const [name, value] of env) {
    if (SHELL_NAME.test(name) && !SHELL_OWN.test(name)) {
      parts.push(Buffer.from(`export ${name}=`), quote(value), Buffer.from("\n"));
    } else {
      throughEnv.push(Buffer.from(" "), quote(Buffer.concat([Buffer.from(`${name}=`), value])));
    }
  }
  return Buffer.concat([
    ...parts,
    Buffer.from("exec /usr/bin/env -u _ -u PWD -u OLDPWD -u SHLVL"),
    ...throughEnv,
    Buffer.from(' "$@"\n'),
  ]);
}
