/**
 * The two shell scripts that start a container. `supervise` (shared, run by /bin/sh, about 1 MB of memory each) is the
 * parent of the container's main process: it leads its process group, outlives the runtime and writes the exit code.
 * `enter` (one file per container, mode 0600) sets the exact environment, so that no value shows in a process list.
 */
import os from "node:os";

/** Additional file descriptors of the supervisor; 0 to 2 are /dev/null. */
export const SUPERVISOR_FDS = ["stdout", "stderr", "alive"] as const;

/**
 * Returns the numbers of all catchable signals. The supervisor has to survive signals to its whole group. Numbers are
 * portable between shells; names are not, and an unknown name aborts `trap`.
 */
function catchable(platform: NodeJS.Platform, known: Readonly<Record<string, number>>): readonly number[] {
  const spared = ["SIGKILL", "SIGSTOP", "SIGCHLD"].map((name) => known[name]);
  const named = new Set(Object.values(known).filter((number) => !spared.includes(number)));
  const realTime = platform === "linux" ? Array.from({ length: 31 }, (_, index) => 34 + index) : [];
  return [...named, ...realTime].sort((a, b) => a - b);
}

/**
 * Returns the supervisor script. `$1` is the container's directory, the rest is its command. `trap :` (not `trap ''`)
 * leaves the default handlers to the child, which writes the supervisor's `pid` once it has them: from then on no
 * signal is lost. Descriptors 3 and 4 stay open to keep unread output; closing 5 signals that `exit` is written. The
 * supervisor then blocks, without using CPU, until the runtime has drained the output and kills it.
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

/** Names that a shell sets, treats specially or cannot export unchanged. They are passed through env(1). */
const SHELL_OWN =
  /^(_|PWD|OLDPWD|SHLVL|PPID|E?UID|GROUPS|IFS|OPT(IND|ARG|ERR)|LINENO|S?RANDOM|SECONDS|EPOCH.*|BASH.*|SHELLOPTS|POSIXLY_CORRECT|FUNC.*|DIRSTACK|PIPESTATUS|HIST.*|COMP_.*|LANG|LC_.*|PS[0-4]|P?ENV|MAIL.*|TMOUT|status|argv|path)$/;
const SHELL_NAME = /^[A-Za-z_][A-Za-z0-9_]*$/;

const quote = (value: Uint8Array): Buffer =>
  Buffer.from(`'${Buffer.from(value).toString("latin1").replaceAll("'", "'\\''")}'`, "latin1");

/** Returns the content of `enter`: a shell that sources it is replaced by `"$@"` with exactly these variables. */
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
