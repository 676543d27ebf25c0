/** Directories of network configurations and plugins of a test. A plugin is a script that notes each call. */
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { CniOptions } from "../../src/cni/cniNetwork.ts";
import type { NetworkedSandbox } from "../../src/dockershim/podNetwork.ts";
import { scriptAt } from "./networkNamespace.ts";

const VERSIONS = '{"cniVersion":"1.1.0","supportedVersions":["0.3.1","0.4.0","1.0.0","1.1.0"]}';

/** A log line: message, then fields. */
export type LogLine = readonly [string, Readonly<Record<string, unknown>>?];

export interface FakeCni {
  readonly options: CniOptions;
  readonly lines: LogLine[];
  /** Writes a plugin. `body` runs for all commands but VERSION; `$input` has the standard input. */
  plugin(name: string, body: string, versions?: string): string;
  /** Writes a configuration. */
  conf(file: string, content: object | string): void;
  /** Calls so far, without VERSION: `ADD bridge eth0`. */
  calls(): readonly string[];
  /** Standard input of the last such call. */
  input(command: string, name: string): Readonly<Record<string, unknown>>;
  /** Environment of the last such call, by variable. */
  environment(command: string, name: string): Readonly<Record<string, string>>;
  /** Names of attachments on disk. */
  attachments(): readonly string[];
}

/** Creates the directories below `place`, with a loopback plugin. */
export function createFakeCni(place: string): FakeCni {
  const [confDir, bin, cacheDir, notes] = ["net.d", "bin", "cache", "notes"].map((name) => join(place, name)) as [
    string,
    string,
    string,
    string,
  ];
  for (const directory of [confDir, bin, notes]) mkdirSync(directory);
  const lines: LogLine[] = [];
  const log = (...line: LogLine): void => void lines.push(line);
  const read = (file: string): string => (existsSync(file) ? readFileSync(file, "utf8") : "");
  const plugin = (name: string, body: string, versions = `echo '${VERSIONS}'`): string =>
    scriptAt(
      join(bin, name),
      `input=$(cat)
if [ "$CNI_COMMAND" = VERSION ]; then ${versions}; exit; fi
printf '%s' "$input" > "${notes}/input-$CNI_COMMAND-${name}"
env > "${notes}/environment-$CNI_COMMAND-${name}"
echo "$CNI_COMMAND ${name} $CNI_IFNAME" >> "${notes}/calls"
${body}`,
    );
  plugin("loopback", 'echo "{}"');
  return {
    options: {
      confDir,
      binDirs: [join(place, "none"), bin],
      cacheDir,
      log: { info: log, warn: log },
      deadlineMs: 60_000,
      undoMs: 60_000,
      askMs: 60_000,
      busyPauseMs: 10,
    },
    lines,
    plugin,
    conf: (file, content) =>
      writeFileSync(join(confDir, file), typeof content === "string" ? content : JSON.stringify(content)),
    calls: () =>
      read(join(notes, "calls"))
        .split("\n")
        .filter((line) => line !== ""),
    input: (command, name) => JSON.parse(read(join(notes, `input-${command}-${name}`))) as Record<string, unknown>,
    environment: (command, name) =>
      Object.fromEntries(
        read(join(notes, `environment-${command}-${name}`))
          .split("\n")
          .map((line) => [line.slice(0, line.indexOf("=")), line.slice(line.indexOf("=") + 1)]),
      ),
    attachments: () => (existsSync(join(cacheDir, "results")) ? readdirSync(join(cacheDir, "results")).sort() : []),
  };
}

/** A result that has this address on the pod's interface. */
export const resultWith = (address: string): string =>
  `{"cniVersion":"1.0.0","interfaces":[{"name":"eth0","sandbox":"/ns"}],"ips":[{"address":"${address}","interface":0}]}`;

/** A sandbox in the network of the test itself, which fake plugins leave alone. */
export const sandboxOf = (id: string, more: Partial<NetworkedSandbox> = {}): NetworkedSandbox => ({
  id,
  namespace: "default",
  name: "web",
  uid: "u-1",
  netns: "/proc/self/ns/net",
  portMappings: [],
  annotations: {},
  dns: { servers: [], searches: [], options: [] },
  cgroupParent: "",
  ...more,
});
