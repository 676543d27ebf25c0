/** The answers of Docker about containers that the shim reads. Pure. */
import { fieldsOf, listOf, numberOf, textMapOf, textOf, textsOf, wholeOf } from "./fields.ts";
import type { Fields } from "./fields.ts";
import { timestampNs } from "./timestamp.ts";

const ID = /^[0-9a-f]{1,64}$/;
/** In the year 2255. */
const MAX_SECONDS = 9_000_000_000;

/** A mount of a container. */
export interface MountDetails {
  readonly source: string;
  readonly destination: string;
  readonly writable: boolean;
  readonly propagation: string;
}

/** A container, as inspected. */
export interface ContainerDetails {
  readonly id: string;
  /** Name with the slash that Docker puts before it. */
  readonly name: string;
  readonly createdAt: bigint;
  readonly startedAt: bigint;
  readonly finishedAt: bigint;
  readonly running: boolean;
  readonly pid: number;
  readonly exitCode: number;
  readonly oomKilled: boolean;
  readonly error: string;
  /** Image as the container was created from it. */
  readonly imageName: string;
  readonly imageId: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly mounts: readonly MountDetails[];
  readonly stopSignal: string;
  readonly tty: boolean;
  readonly openStdin: boolean;
  readonly user: string;
  readonly logPath: string;
  readonly resolvConfPath: string;
  readonly hostConfig: Fields;
  readonly runtime: string;
  readonly networkMode: string;
  readonly pidMode: string;
  readonly ipcMode: string;
  /** Addresses in Docker's networks, IPv4 first. */
  readonly addresses: readonly string[];
}

/** Reads the answer of an inspection. */
export function containerDetails(answer: unknown): ContainerDetails {
  const fields = fieldsOf(answer);
  const state = fieldsOf(fields["State"]);
  const config = fieldsOf(fields["Config"]);
  const hostConfig = fieldsOf(fields["HostConfig"]);
  return {
    id: textOf(fields, "Id"),
    name: textOf(fields, "Name"),
    createdAt: timestampNs(textOf(fields, "Created")),
    startedAt: timestampNs(textOf(state, "StartedAt")),
    finishedAt: timestampNs(textOf(state, "FinishedAt")),
    running: state["Running"] === true,
    pid: numberOf(state, "Pid"),
    exitCode: numberOf(state, "ExitCode"),
    oomKilled: state["OOMKilled"] === true,
    error: textOf(state, "Error"),
    imageName: textOf(config, "Image"),
    imageId: textOf(fields, "Image"),
    labels: textMapOf(config, "Labels"),
    mounts: listOf(fields, "Mounts").map(mountDetails),
    stopSignal: textOf(config, "StopSignal"),
    tty: config["Tty"] === true,
    openStdin: config["OpenStdin"] === true,
    user: textOf(config, "User"),
    logPath: textOf(fields, "LogPath"),
    resolvConfPath: textOf(fields, "ResolvConfPath"),
    hostConfig,
    runtime: textOf(hostConfig, "Runtime"),
    networkMode: textOf(hostConfig, "NetworkMode"),
    pidMode: textOf(hostConfig, "PidMode"),
    ipcMode: textOf(hostConfig, "IpcMode"),
    addresses: addressesOf(fieldsOf(fields["NetworkSettings"])),
  };
}

function mountDetails(value: unknown): MountDetails {
  const fields = fieldsOf(value);
  return {
    source: textOf(fields, "Source"),
    destination: textOf(fields, "Destination"),
    writable: fields["RW"] === true,
    propagation: textOf(fields, "Propagation"),
  };
}

/** Newer versions of the API name addresses below their networks only. */
function addressesOf(settings: Fields): readonly string[] {
  const networks = [settings, ...Object.values(fieldsOf(settings["Networks"])).map(fieldsOf)];
  const found = ["IPAddress", "GlobalIPv6Address"].flatMap((field) =>
    networks.map((network) => textOf(network, field)),
  );
  return [...new Set(found.filter((address) => address !== ""))];
}

/** A container, as listed. */
export interface ContainerSummary {
  readonly id: string;
  readonly name: string;
  readonly imageName: string;
  readonly imageId: string;
  /** Time of creation in whole seconds, as nanoseconds. */
  readonly createdAt: bigint;
  /** Docker's word for it, for example `running`. */
  readonly state: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly networkMode: string;
  /** Bytes in its writable layer; zero unless sizes were asked for. */
  readonly writableBytes: bigint;
}

/** Reads the answer of a list of containers, without items that name no id. */
export const containerSummaries = (answer: unknown): readonly ContainerSummary[] =>
  (Array.isArray(answer) ? (answer as readonly unknown[]) : []).flatMap((item) => {
    const fields = fieldsOf(item);
    if (!ID.test(textOf(fields, "Id"))) return [];
    return [
      {
        id: textOf(fields, "Id"),
        name: textsOf(fields, "Names")[0] ?? "",
        imageName: textOf(fields, "Image"),
        imageId: textOf(fields, "ImageID"),
        createdAt: secondsNs(numberOf(fields, "Created")),
        state: textOf(fields, "State"),
        labels: textMapOf(fields, "Labels"),
        networkMode: textOf(fieldsOf(fields["HostConfig"]), "NetworkMode"),
        writableBytes: wholeOf(fields, "SizeRw"),
      },
    ];
  });

/** Zero for a time that no message of CRI can hold. */
const secondsNs = (seconds: number): bigint =>
  seconds > 0 && seconds < MAX_SECONDS ? BigInt(Math.trunc(seconds)) * 1_000_000_000n : 0n;

/** Docker's description of itself. */
export interface EngineInfo {
  readonly cgroupDriver: "cgroupfs" | "systemd";
  readonly rootDir: string;
  readonly runtimes: readonly string[];
  readonly defaultRuntime: string;
  /** Whether Docker gives containers user ids of its own choice. */
  readonly remapsUsers: boolean;
}

/** Reads the answer to `/info`. */
export function engineInfo(answer: unknown): EngineInfo {
  const fields = fieldsOf(answer);
  return {
    cgroupDriver: textOf(fields, "CgroupDriver") === "systemd" ? "systemd" : "cgroupfs",
    rootDir: textOf(fields, "DockerRootDir"),
    runtimes: Object.keys(fieldsOf(fields["Runtimes"])).sort(),
    defaultRuntime: textOf(fields, "DefaultRuntime"),
    remapsUsers: textsOf(fields, "SecurityOptions").some((option) => option.split(",").includes("name=userns")),
  };
}
