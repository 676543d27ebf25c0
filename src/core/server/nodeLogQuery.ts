/**
 * Queries of the node's logs: services of the journal, or one file. Error texts are upstream's. Upstream: nodeLogQuery
 * in pkg/kubelet/kubelet_server_journal.go.
 */
import { parseInstant, civilTime, padded } from "../time/civilTime.ts";
import type { EpochMs } from "../ids.ts";

/** A valid query. */
export type NodeLogQuery =
  | { readonly kind: "file"; readonly path: string }
  | { readonly kind: "services"; readonly services: readonly string[]; readonly options: JournalOptions };

/** Filters for the entries of services. */
export interface JournalOptions {
  readonly since: EpochMs | undefined;
  readonly until: EpochMs | undefined;
  readonly tailLines: number | undefined;
  readonly boot: number | undefined;
  readonly pattern: string;
}

/** 400: malformed; 406: well-formed, but not acceptable. */
export type NodeLogFault = { readonly status: 400 | 406; readonly message: string };

/** A parsed request; "none": it has no query. */
export type ReadNodeLogQuery =
  | { readonly kind: "none" }
  | { readonly kind: "query"; readonly query: NodeLogQuery }
  | { readonly kind: "fault"; readonly fault: NodeLogFault };

const MAX_TAIL_LINES = 100_000;
const MAX_SERVICE_LENGTH = 256;
const MAX_SERVICES = 4;
const UNSAFE = /[^a-zA-Z\-_0-9@]/;
const KEYS = ["query", "sinceTime", "untilTime", "tailLines", "boot", "pattern"];

const invalid = (field: string, value: unknown, why: string): string =>
  `${field}: Invalid value: ${JSON.stringify(value)}: ${why}`;

const aggregate = (faults: readonly string[]): string =>
  faults.length === 1 ? (faults[0] ?? "") : `[${faults.join(", ")}]`;

const fault = (status: NodeLogFault["status"], faults: readonly string[]): ReadNodeLogQuery => ({
  kind: "fault",
  fault: { status, message: aggregate(faults) },
});

/** Parses the query of a request. `path` follows `/logs/`; a query is valid only at the root. */
export function readNodeLogQuery(given: URLSearchParams, path: string): ReadNodeLogQuery {
  if (!KEYS.some((key) => (given.get(key) ?? "") !== "") && !given.has("query")) return { kind: "none" };
  const asked = given.getAll("query");
  const files = asked.filter((each) => /[/\\]/.test(each));
  const services = asked.filter((each) => !/[/\\]/.test(each) && each.trim() !== "");
  const faults: string[] = [];
  if (given.has("query") && files.length + services.length === 0) {
    faults.push(invalid("query", asked, "query cannot be empty"));
  }
  const options = readOptions(given, faults);
  if (faults.length > 0) return fault(400, faults);
  if (path !== "") return fault(406, ["path not allowed in query mode"]);
  const refused = [...serviceFaults(services), ...targetFaults(files, services, options), ...optionFaults(options)];
  if (refused.length > 0) return fault(406, refused);
  const [file] = files;
  if (file !== undefined) return { kind: "query", query: { kind: "file", path: file.replaceAll("\\", "/") } };
  return { kind: "query", query: { kind: "services", services, options } };
}

function readOptions(given: URLSearchParams, faults: string[]): JournalOptions {
  const instant = (key: string): EpochMs | undefined => {
    const text = given.get(key) ?? "";
    const at = parseInstant(text);
    if (text !== "" && at === undefined) faults.push(invalid(key, text, "invalid time format"));
    return at;
  };
  const whole = (key: string): number | undefined => {
    const text = given.get(key) ?? "";
    if (text === "") return undefined;
    if (/^[+-]?\d{1,15}$/.test(text)) return Number(text);
    faults.push(invalid(key, text, `strconv.Atoi: parsing ${JSON.stringify(text)}: invalid syntax`));
    return undefined;
  };
  return {
    since: instant("sinceTime"),
    until: instant("untilTime"),
    boot: whole("boot"),
    tailLines: whole("tailLines"),
    pattern: given.get("pattern") ?? "",
  };
}

const serviceFaults = (services: readonly string[]): readonly string[] => [
  ...services.flatMap((service) => {
    if (service.length > MAX_SERVICE_LENGTH) return [invalid("query", service, "length must be less than 100")];
    return UNSAFE.test(service) ? [invalid("query", service, "input contains unsupported characters")] : [];
  }),
  ...(services.length > MAX_SERVICES
    ? [`query: Too many: ${services.length}: must have at most ${MAX_SERVICES} items`]
    : []),
];

function targetFaults(
  files: readonly string[],
  services: readonly string[],
  { since, until, boot, tailLines, pattern }: JournalOptions,
): readonly string[] {
  const hasOptions = [since, until, boot, tailLines].some((each) => each !== undefined) || pattern !== "";
  if (files.length + services.length === 0) return ["query: Required value: cannot be empty with options"];
  if (files.length > 0 && services.length > 0) {
    return [invalid("query", `[${files.join(" ")}], [${services.join(" ")}]`, "cannot specify a file and service")];
  }
  if (files.length > 1) return [invalid("query", files, "cannot specify more than one file")];
  if (files.length === 1 && hasOptions) return [invalid("query", files, "cannot specify file with options")];
  return [];
}

function optionFaults({ since, until, boot, tailLines, pattern }: JournalOptions): readonly string[] {
  const faults: string[] = [];
  if (since !== undefined && until !== undefined && since > until) {
    faults.push(invalid("untilTime", dated(until), "must be after `sinceTime`"));
  }
  if (boot !== undefined && boot > 0) faults.push(invalid("boot", boot, "must be less than 1"));
  if (tailLines !== undefined && (tailLines < 0 || tailLines > MAX_TAIL_LINES)) {
    faults.push(invalid("tailLines", tailLines, `must be between 0 and ${MAX_TAIL_LINES}, inclusive`));
  }
  // A NUL byte would end the command-line argument.
  if (pattern.includes("\0")) faults.push(invalid("pattern", pattern, "invalid character"));
  return faults;
}

function dated(at: EpochMs): string {
  const { year, month, day, hour, minute, second } = civilTime(at);
  return `${year}-${month}-${day} ${[hour, minute, second].map((part) => padded(part, 2)).join(":")}`;
}

/** Returns journalctl's arguments for these services. */
export function journalArguments(services: readonly string[], options: JournalOptions): readonly string[] {
  const { since, until, tailLines, pattern, boot } = options;
  return [
    "--utc",
    "--no-pager",
    "--output=short-precise",
    ...(since === undefined ? [] : [`--since=${dated(since)}`]),
    ...(until === undefined ? [] : [`--until=${dated(until)}`]),
    ...(tailLines === undefined ? [] : ["--pager-end", `--lines=${tailLines}`]),
    ...services.map((service) => `--unit=${service}`),
    ...(pattern === "" ? [] : [`--grep=${pattern}`, "--case-sensitive=false"]),
    ...(boot === undefined ? [] : ["--boot", String(boot)]),
  ];
}

/** Returns the log files of a service that does not use the journal; the first existing one counts. */
export const serviceLogFiles = (service: string): readonly string[] => [
  service,
  `${service}.log`,
  `${service}/${service}.log`,
];
