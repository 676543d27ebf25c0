/** Formats a view of the node's hardware as text of a given width: the output of `rxlet resources`. */
import { shortAmount } from "../eviction/shortAmount.ts";
import type {
  ClaimView,
  CpusView,
  DeviceView,
  HardwareView,
  Listed,
  MemoryView,
  NumaNodeView,
  OwnerView,
  PoliciesView,
} from "./hardwareView.ts";
import { moreRow, ownedRow, wrapped } from "./textRows.ts";

/** Width without a terminal. */
export const DEFAULT_COLUMNS = 80;
const LABEL = 11;
/** Maximum number of containers per list; JSON has more. */
const MAX_ROWS = 64;

/** Returns lines ending in a newline. */
export function hardwareText(view: HardwareView, columns = DEFAULT_COLUMNS): string {
  const { at, policies, cpus, nodes, devices, claims } = view;
  return [
    ...policyLines(policies, at, columns),
    "",
    ...cpuLines(cpus, nodes.length, columns),
    ...nodes.flatMap((node) => nodeLines(node, columns)),
    ...devices.flatMap((device) => deviceLines(device, columns)),
    ...claims.first.flatMap((claim) => claimLines(claim, columns)),
    ...(claims.more > 0 ? ["", `and ${claims.more} more claims`] : []),
    "",
  ].join("\n");
}

const policyLines = ({ cpu, memory, topology, scope }: PoliciesView, at: string, columns: number): readonly string[] =>
  wrapped(
    `Policies: CPU ${cpu}, memory ${memory}, topology ${topology}${topology === "none" ? "" : ` (scope ${scope})`}, at ${at}`,
    { columns, indent: 2 },
  );

function cpuLines(cpus: CpusView | undefined, nodes: number, columns: number): readonly string[] {
  if (cpus === undefined) return ["The kernel does not say where the CPUs are."];
  const { online, offline, reserved, shared, sockets, threadsPerCore } = cpus;
  const places = [
    counted(sockets, "socket"),
    counted(nodes, "NUMA node"),
    `${counted(threadsPerCore, "thread")} per core`,
  ];
  return [
    ...labelled("CPUs", online === "" ? "none" : online, columns),
    ...labelled("", places.join(", "), columns),
    ...labelled("reserved", reserved === "" ? "none" : reserved, columns),
    ...labelled("shared", shared === "" ? "none" : shared, columns),
    ...(offline === "" ? [] : labelled("offline", offline, columns)),
  ];
}

function nodeLines(node: NumaNodeView, columns: number): readonly string[] {
  const { id, sockets, cpus, cores, caches, owned, distances, memory } = node;
  const title = `NUMA node ${id}, ${sockets.length === 0 ? "no CPUs" : socketText(sockets)}`;
  return [
    "",
    ...wrapped(title, { columns, indent: 2 }),
    ...(cpus === "" ? [] : labelled("  CPUs", cpus, columns)),
    ...(cores.length === 0 ? [] : labelled("  cores", cores.join("  "), columns)),
    ...(caches.length === 0 ? [] : labelled("  caches", caches.join("  "), columns)),
    ...(distances === undefined || distances.length < 2 ? [] : labelled("  distances", distances.join(" "), columns)),
    ...rows(owned, (it) => ownedRow(`CPU ${it.cpus}`, ownerText(it.owner), { columns, indent: 4 })),
    ...memory.flatMap((each) => memoryLines(each, columns)),
  ];
}

const socketText = (sockets: readonly number[]): string =>
  sockets.length === 1 ? `socket ${sockets[0] ?? 0}` : `sockets ${sockets.join(", ")}`;

function memoryLines({ resource, total, given, owned }: MemoryView, columns: number): readonly string[] {
  const amount = (bytes: number): string => shortAmount(bytes, "bytes");
  const parts =
    given === undefined
      ? [amount(total)]
      : [
          amount(total),
          `${amount(given.reserved)} reserved`,
          `${amount(given.allocatable - given.free)} given out`,
          `${amount(given.free)} free`,
        ];
  return [
    ...wrapped(`  ${resource}  ${parts.join(", ")}`, { columns, indent: 4 }),
    ...rows(owned, ({ bytes, held, nodes, owner }) => {
      const again = held === bytes ? "" : ` (${amount(held)} held)`;
      const where = nodes.length === 1 ? "" : ` on nodes ${nodes.join(",")}`;
      return ownedRow(`${amount(bytes)}${again}${where}`, ownerText(owner), { columns, indent: 4 });
    }),
  ];
}

function deviceLines(view: DeviceView, columns: number): readonly string[] {
  const { resource, plugin, total, free, unhealthy, unhealthyCount, nodes, owned } = view;
  const parts = [
    counted(total, "device"),
    `${free} free`,
    ...(unhealthyCount === 0 ? [] : [`${unhealthyCount} unhealthy`]),
    plugin === "ready" ? "plugin ready" : plugin === "away" ? "plugin is away" : "plugin is gone",
  ];
  const byNode = Object.entries(nodes).map(([id, count]) => `${count} on ${id}`);
  return [
    "",
    ...wrapped(`${resource}  ${parts.join(", ")}`, { columns, indent: 2 }),
    ...(byNode.length === 0 ? [] : labelled("  NUMA", byNode.join(", "), columns)),
    ...(unhealthyCount === 0 ? [] : labelled("  unhealthy", listText(unhealthy), columns)),
    ...rows(owned, ({ ids, nodes: near, owner }) => {
      const place = near.length === 0 ? "" : ` (NUMA ${near.join(",")})`;
      return ownedRow(`${listText(ids)}${place}`, ownerText(owner), { columns, indent: 4 });
    }),
  ];
}

function claimLines({ namespace, name, isPrepared, devices, owners }: ClaimView, columns: number): readonly string[] {
  return [
    "",
    ...wrapped(`Claim ${namespace}/${name}${isPrepared ? "" : ", not prepared"}`, { columns, indent: 2 }),
    ...(devices.first.length === 0 ? ["  no devices"] : []),
    ...devices.first.flatMap((device) => wrapped(`  ${device}`, { columns, indent: 4 })),
    ...moreRow(devices.more, 2),
    ...rows(owners, (owner) => wrapped(`    used by ${ownerText(owner)}`, { columns, indent: 6 })),
  ];
}

const labelled = (label: string, text: string, columns: number): readonly string[] =>
  wrapped(`${label.padEnd(LABEL)} ${text}`, { columns, indent: LABEL + 1 });

function rows<T>({ first, more }: Listed<T>, lines: (item: T) => readonly string[]): readonly string[] {
  return [...first.slice(0, MAX_ROWS).flatMap(lines), ...moreRow(more + Math.max(0, first.length - MAX_ROWS), 4)];
}

const ownerText = ({ namespace, pod, container }: OwnerView): string =>
  `${namespace === "" ? "" : `${namespace}/`}${pod}${container === "" ? "" : ` ${container}`}`;

const listText = ({ first, more }: Listed<string>): string =>
  `${first.join(", ")}${more === 0 ? "" : `, and ${more} more`}`;

const counted = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? "" : "s"}`;
