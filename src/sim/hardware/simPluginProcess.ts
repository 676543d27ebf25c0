/**
 * The process of a simulated plugin: it ends, and starts again under another socket, maybe with another version of its API or
 * another way to register. Owns whether it runs. Outlives the kubelet.
 */
import { Subject, type Observable } from "rxjs";

/** How a plugin registers: at the kubelet's socket, or by a socket of its own in the directory of plugins. */
export type SimRegistrationWay = "kubelet.sock" | "directory";

/** The types of plugins that are simulated. */
export type SimPluginType = keyof typeof GOOD_VERSIONS;

/** Settings with which a process starts. */
export interface SimPluginStart {
  readonly way: SimRegistrationWay;
  readonly versions: readonly string[];
}

export interface SimPluginProcess extends SimPluginStart {
  readonly type: SimPluginType;
  /** The resource of a device plugin, the name of a driver. */
  readonly name: string;
  readonly isUp: boolean;
  /** Number of starts. */
  readonly starts: number;
  /** Path of the socket of its service; each start has another one. */
  readonly endpoint: string;
  /** Path of its socket in the directory of plugins. */
  readonly registrationSocket: string;
  /** Whether that socket is there: a crash leaves it behind. */
  readonly hasRegistrationSocket: boolean;
  /** Emits at each end of the process. */
  readonly died$: Observable<void>;
  start(settings?: Partial<SimPluginStart>): void;
  /** `isCrash`: its socket in the directory of plugins stays. */
  end(isCrash: boolean): void;
  /** Removes its socket in the directory of plugins, as a stranger does; the process runs on. */
  loseSocket(): void;
}

/** Versions of the APIs that a kubelet has. */
export const GOOD_VERSIONS = {
  DevicePlugin: ["v1beta1"],
  DRAPlugin: ["v1.DRAPlugin", "v1beta1.DRAPlugin"],
  CSIPlugin: ["1.0.0"],
} as const;

const fileOf = (name: string): string => name.replaceAll("/", "_");

/** Creates a process that runs; `changed` is called after each change. */
export function createPluginProcess(
  type: SimPluginType,
  name: string,
  way: SimRegistrationWay,
  changed: (process: SimPluginProcess) => void,
): SimPluginProcess {
  const died$ = new Subject<void>();
  let current: SimPluginStart = { way, versions: GOOD_VERSIONS[type] };
  let isUp = true;
  let hasSocket = way === "directory";
  let starts = 1;
  const process: SimPluginProcess = {
    type,
    name,
    get way() {
      return current.way;
    },
    get versions() {
      return current.versions;
    },
    get isUp() {
      return isUp;
    },
    get starts() {
      return starts;
    },
    get endpoint() {
      const directory = type === "DevicePlugin" ? "device-plugins" : "plugins";
      return `/var/lib/kubelet/${directory}/${fileOf(name)}-${starts}.sock`;
    },
    registrationSocket: `/var/lib/kubelet/plugins_registry/${fileOf(name)}.sock`,
    get hasRegistrationSocket() {
      return hasSocket;
    },
    died$,
    start(settings = {}) {
      current = { ...current, ...settings };
      if (isUp) died$.next();
      isUp = true;
      starts += 1;
      hasSocket = current.way === "directory";
      changed(process);
    },
    end(isCrash) {
      if (!isUp) return;
      isUp = false;
      hasSocket &&= isCrash;
      died$.next();
      changed(process);
    },
    loseSocket() {
      hasSocket = false;
      changed(process);
    },
  };
  return process;
}
