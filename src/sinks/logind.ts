/**
 * The Logind port by the programs of systemd: `busctl` for calls and signals, `systemd-inhibit` for the lock. Node.js has
 * no D-Bus, and cannot receive the descriptor that is the lock. `systemd-inhibit` holds it while its command runs, which is
 * `cat` on a pipe of ours: the lock ends with the pipe, also when the kubelet is killed. Bounds: 10 s for a call, two
 * processes. Requires systemd 240 or later, and root.
 */
import { concat, filter, ignoreElements, map, merge, type Observable, of, switchMap } from "rxjs";
import { kubeletError } from "../core/errors.ts";
import { inhibitDelayMs, inhibitDelaySetting, prepareForShutdown } from "../core/shutdown/logindAnswers.ts";
import { longTimer } from "../operators/longTimer.ts";
import type { Clock } from "../ports/clock.ts";
import type { Files } from "../ports/files.ts";
import type { Logind } from "../ports/logind.ts";
import { busctlCalls } from "./busctlCalls.ts";
import { type ChildLine, childLines } from "./childLines.ts";

/** The programs and the place of settings; tests have their own. */
export interface LogindOptions {
  readonly clock: Clock;
  readonly files: Pick<Files, "makeDirectory" | "replaceFile">;
  /** Default: `busctl` on the PATH. */
  readonly busctl?: string;
  /** Default: `systemd-inhibit` on the PATH. */
  readonly inhibit?: string;
  /** Default: `/etc/systemd/logind.conf.d`. */
  readonly settingsDir?: string;
}

const MANAGER = ["org.freedesktop.login1", "/org/freedesktop/login1", "org.freedesktop.login1.Manager"];
const SYSTEMD = ["org.freedesktop.systemd1", "/org/freedesktop/systemd1", "org.freedesktop.systemd1.Manager"];
const SIGNALS =
  "--match=type='signal',path='/org/freedesktop/login1',interface='org.freedesktop.login1.Manager'," +
  "member='PrepareForShutdown'";
const SETTINGS_DIR = "/etc/systemd/logind.conf.d";
/** Upstream's name of the file. */
const SETTINGS_FILE = "99-kubelet.conf";
const HANGUP = "1";
/** A busctl that does not report when it has begun to watch has begun after this time. */
const WATCHING_MS = 1_000;
const HELD = "held";

/** Connects to the login manager on the system bus. Errors: NotFound without its programs, DeadlineExceeded, Io, Unavailable. */
export function createLogind(options: LogindOptions): Logind {
  const { clock, files, busctl = "busctl", inhibit = "systemd-inhibit", settingsDir = SETTINGS_DIR } = options;
  const { ask, order } = busctlCalls({ clock, program: busctl });
  const isShuttingDown = (): Observable<boolean> =>
    ask("logind PreparingForShutdown", ["get-property", ...MANAGER, "PreparingForShutdown"]).pipe(
      map((data) => data === true),
    );
  return {
    inhibitDelayMs: () =>
      ask("logind InhibitDelayMaxUSec", ["get-property", ...MANAGER, "InhibitDelayMaxUSec"]).pipe(
        map((data) => {
          const ms = inhibitDelayMs(data);
          if (ms === undefined) throw kubeletError("Unknown", "logind did not tell InhibitDelayMaxUSec");
          return ms;
        }),
      ),
    overrideInhibitDelay: (seconds) =>
      concat(
        files.makeDirectory(settingsDir, 0o755).pipe(ignoreElements()),
        files.replaceFile(`${settingsDir}/${SETTINGS_FILE}`, inhibitDelaySetting(seconds)),
      ),
    reload: () =>
      order("systemd KillUnit systemd-logind.service", [
        ...["call", ...SYSTEMD, "KillUnit", "ssi"],
        ...["systemd-logind.service", "all", HANGUP],
      ]),
    inhibit: () =>
      childLines(
        inhibit,
        [
          ...["--what=shutdown", "--who=kubelet", "--why=Kubelet needs time to handle node shutdown"],
          ...["--mode=delay", "cat"],
        ],
        `${HELD}\n`,
      ).pipe(
        filter(({ from, text }) => from === "stdout" && text === HELD),
        map(() => undefined),
      ),
    shutdowns: () =>
      // A look follows when the watch is known to work, so that no signal is missed between the two.
      merge(
        childLines(busctl, ["--system", "--json=short", SIGNALS, "monitor"]).pipe(map(newsOf)),
        longTimer(clock, WATCHING_MS).pipe(map(() => LOOK)),
      ).pipe(
        filter((news) => news !== undefined),
        switchMap((news) => (typeof news === "boolean" ? of(news) : isShuttingDown())),
      ),
  };
}

const LOOK = "look";

/** Returns the value of a signal, or that the state is to be looked at: busctl reports on stderr that it watches. */
const newsOf = ({ from, text }: ChildLine): boolean | typeof LOOK | undefined =>
  from === "stderr" ? LOOK : prepareForShutdown(text);
