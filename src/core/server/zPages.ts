/** `/flagz` and `/statusz` as text and as objects. Upstream: flagz and statusz of apiserver. */
import { civilTime, formatInstant, padded } from "../time/civilTime.ts";
import { type EpochMs } from "../ids.ts";
import { dayName, monthName } from "./httpDate.ts";

const API_VERSIONS = ["v1alpha1", "v1beta1"] as const;
type PageVersion = (typeof API_VERSIONS)[number];

type PageKind = "Flagz" | "Statusz";

/** The negotiated format of a page; "none": no acceptable format. */
export type PageForm = "text" | "none" | { readonly format: "json" | "yaml"; readonly version: PageVersion };

/** Negotiates the format of a page from an Accept header. */
export function pageForm(accept: string | undefined, kind: PageKind): PageForm {
  if (accept === undefined || accept.trim() === "") return "text";
  for (const range of accept.split(",")) {
    const [type = "", ...parameters] = range.split(";").map((part) => part.trim());
    if (["*/*", "text/*", "text/plain"].includes(type)) return "text";
    const format = type === "application/json" ? "json" : type === "application/yaml" ? "yaml" : undefined;
    if (format === undefined) continue;
    const given = new Map(
      parameters.map((part): [string, string] => [part.split("=")[0] ?? "", part.split("=")[1] ?? ""]),
    );
    const version = API_VERSIONS.find((known) => known === given.get("v"));
    if (version !== undefined && given.get("g") === "config.k8s.io" && given.get("as") === kind) {
      return { format, version };
    }
  }
  return "none";
}

/** Returns the headers of an object in this format; the older version has a deprecation warning. */
export const pageHeaders = (
  { format, version }: Exclude<PageForm, "text" | "none">,
  kind: PageKind,
): Readonly<Record<string, string>> => ({
  "content-type": `application/${format};g=config.k8s.io;v=${version};as=${kind}`,
  ...(version === "v1alpha1" && {
    warning: `299 - "This version of the ${kind.toLowerCase()} endpoint is deprecated. Please use a newer version."`,
  }),
});

/** Returns the Status for a client that accepts none of the formats. */
export const notAcceptableStatus = (): string =>
  `${JSON.stringify(
    {
      kind: "Status",
      apiVersion: "v1",
      metadata: {},
      status: "Failure",
      message: "only the following media types are accepted: application/json, application/yaml, text/plain",
      reason: "NotAcceptable",
      code: 406,
    },
    null,
    2,
  )}`;

const header = (name: string): string =>
  `\nkubelet ${name}\nWarning: This endpoint is not meant to be machine parseable, has no formatting compatibility guarantees and is for debugging purposes only.\n`;

/** Returns the flags as text, one per line, sorted. */
export const flagzText = (flags: ReadonlyMap<string, string>): string =>
  `${header("flagz")}${sortedFlags(flags)
    .map(([name, value]) => `${name}=${value}\n`)
    .join("")}`;

/** Returns the flags as an object. */
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

/** The content of `/statusz`. */
export interface ProcessStatus {
  readonly startedAt: EpochMs;
  readonly now: EpochMs;
  /** Name and version of the JavaScript runtime. */
  readonly platform: string;
  readonly version: string;
  /** First elements of the readable paths. */
  readonly paths: readonly string[];
}

/** Formats a time like Go's time.UnixDate, in UTC. */
function unixDate(at: EpochMs): string {
  const { year, month, day, hour, minute, second } = civilTime(at);
  const time = [hour, minute, second].map((part) => padded(part, 2)).join(":");
  return `${dayName(at)} ${monthName(month)} ${String(day).padStart(2)} ${time} UTC ${year}`;
}

const uptimeSeconds = ({ startedAt, now }: ProcessStatus): number => Math.max(0, Math.floor((now - startedAt) / 1000));

/** Returns the Kubernetes minor version that this kubelet implements. */
const minorVersion = ({ version }: ProcessStatus): string => /^\d+\.\d+/.exec(version)?.[0] ?? version;

/** Returns the page as text. */
export function statuszText(status: ProcessStatus): string {
  const up = uptimeSeconds(status);
  const uptime = `${Math.floor(up / 3600)} hr ${padded(Math.floor(up / 60) % 60, 2)} min ${padded(up % 60, 2)} sec`;
  const lines = [
    `Started: ${unixDate(status.startedAt)}`,
    `Up: ${uptime}`,
    `Go version: ${status.platform}`,
    `Binary version: ${status.version}`,
    `Emulation version: ${minorVersion(status)}`,
    `Paths: ${status.paths.join(" ")}`,
  ];
  return `${header("statusz")}\n${lines.join("\n")}\n`;
}

/** Returns the page as an object. */
export const statuszObject = (status: ProcessStatus, version: PageVersion) => ({
  ...typed("Statusz", version),
  startTime: formatInstant(status.startedAt),
  uptimeSeconds: uptimeSeconds(status),
  goVersion: status.platform,
  binaryVersion: status.version,
  emulationVersion: minorVersion(status),
  paths: status.paths,
});
