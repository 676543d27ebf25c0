/** `/flagz` and `/statusz` as text and as objects. Counterparts: flagz and statusz of apiserver. */
import { civilTime, formatInstant, padded } from "../telemetry/civilTime.ts";
import { type EpochMs } from "../ids.ts";

const API_VERSIONS = ["v1alpha1", "v1beta1"] as const;
type PageVersion = (typeof API_VERSIONS)[number];

/** How a page is wanted; "none": in no form there is. */
export type PageForm = "text" | PageVersion | "none";

/** Reads an Accept header for a page of a kind. */
export function pageForm(accept: string | undefined, kind: "Flagz" | "Statusz"): PageForm {
  if (accept === undefined || accept.trim() === "") return "text";
  for (const range of accept.split(",")) {
    const [type = "", ...parameters] = range.split(";").map((part) => part.trim());
    if (["*/*", "text/*", "text/plain"].includes(type)) return "text";
    if (type !== "application/json") continue;
    const given = new Map(
      parameters.map((part): [string, string] => [part.split("=")[0] ?? "", part.split("=")[1] ?? ""]),
    );
    const version = API_VERSIONS.find((known) => known === given.get("v"));
    if (version !== undefined && given.get("g") === "config.k8s.io" && given.get("as") === kind) return version;
  }
  return "none";
}

const header = (name: string): string =>
  `\nkubelet ${name}\nWarning: This endpoint is not meant to be machine parseable, has no formatting compatibility guarantees and is for debugging purposes only.\n`;

/** The flags, one a line, sorted. */
export const flagzText = (flags: ReadonlyMap<string, string>): string =>
  `${header("flagz")}${sortedFlags(flags)
    .map(([name, value]) => `${name}=${value}\n`)
    .join("")}`;

/** The same as an object. */
export const flagzObject = (flags: ReadonlyMap<string, string>, version: PageVersion) => ({
  ...typed("Flagz", version),
  flags: Object.fromEntries(sortedFlags(flags)),
});

const sortedFlags = (flags: ReadonlyMap<string, string>) => [...flags].toSorted(([a], [b]) => (a < b ? -1 : 1));

const typed = (kind: string, version: PageVersion) => ({
  kind,
  apiVersion: `config.k8s.io/${version}`,
  metadata: { name: "kubelet" },
});

/** What `/statusz` says. */
export interface ProcessStatus {
  readonly startedAt: EpochMs;
  readonly now: EpochMs;
  /** What the program runs on. */
  readonly platform: string;
  readonly version: string;
  /** First parts of the paths that can be read. */
  readonly paths: readonly string[];
}

const DAYS = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"] as const;
const MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"] as const;
const DAY_MS = 86_400_000;

/** As Go's time.UnixDate has it, in UTC. */
function unixDate(at: EpochMs): string {
  const { year, month, day, hour, minute, second } = civilTime(at);
  const time = [hour, minute, second].map((part) => padded(part, 2)).join(":");
  return `${DAYS[Math.floor(at / DAY_MS) % 7]} ${MONTHS[month - 1]} ${String(day).padStart(2)} ${time} UTC ${year}`;
}

const uptimeSeconds = ({ startedAt, now }: ProcessStatus): number => Math.max(0, Math.floor((now - startedAt) / 1000));

/** The page as text. */
export function statuszText(status: ProcessStatus): string {
  const up = uptimeSeconds(status);
  const uptime = `${Math.floor(up / 3600)} hr ${padded(Math.floor(up / 60) % 60, 2)} min ${padded(up % 60, 2)} sec`;
  const lines = [
    `Started: ${unixDate(status.startedAt)}`,
    `Up: ${uptime}`,
    `Go version: ${status.platform}`,
    `Binary version: ${status.version}`,
    "",
    `Paths: ${status.paths.join(" ")}`,
  ];
  return `${header("statusz")}\n${lines.join("\n")}\n`;
}

/** The same as an object. */
export const statuszObject = (status: ProcessStatus, version: PageVersion) => ({
  ...typed("Statusz", version),
  startTime: formatInstant(status.startedAt),
  uptimeSeconds: uptimeSeconds(status),
  goVersion: status.platform,
  binaryVersion: status.version,
  paths: status.paths,
});
