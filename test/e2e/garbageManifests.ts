/** Manifests no kubelet can use, a different one for each draw; the same ones for the same seed. */
import { createPrng, type Prng } from "../../src/sim/prng.ts";
import { manifest, server } from "./manifests.ts";

/** A file as it is to stand in the manifest directory. */
export interface GarbageFile {
  readonly name: string;
  readonly content: string | Uint8Array;
}

type Kind = (random: Prng, index: number) => string | Uint8Array;

const good = (index: number): Readonly<Record<string, unknown>> =>
  manifest(`garbage-${index}`, { containers: [server()] });
const withPod = (
  index: number,
  change: (pod: { metadata: Record<string, unknown>; spec: Record<string, unknown> }) => void,
): string => {
  const pod = structuredClone(good(index)) as Parameters<typeof change>[0];
  change(pod);
  return JSON.stringify(pod);
};

/** Nests `open` so deep that a recursive reader runs out of stack. */
const nested = (open: string, depth: number): string => `apiVersion: v1\nkind: Pod\nspec: ${open.repeat(depth)}\n`;

/** Aliases of aliases: nine lines that mean a billion items. */
const bomb = (): string =>
  ["a: &a [x, x, x, x, x, x, x, x, x]"]
    .concat(
      [..."bcdefghi"].map((name, index) => {
        const inner = `*${"abcdefgh"[index]}`;
        return `${name}: &${name} [${Array.from({ length: 9 }, () => inner).join(", ")}]`;
      }),
    )
    .join("\n");

const badName = (random: Prng): string =>
  random.pick(["UPPER", "under_score", "-dash", "a".repeat(254), "dot..dot", "ü", "../up", ""]);

const KINDS: Readonly<Record<string, Kind>> = {
  truncated: (random, index) => {
    const text = JSON.stringify(good(index));
    return text.slice(0, random.int(2, text.length - 2));
  },
  truncatedYaml: (random, index) =>
    `apiVersion: v1\nkind: Pod\nmetadata: {name: garbage-${index}}\nspec:\n  containers:\n  - name: "main${"\n  - ".repeat(random.int(0, 2))}`,
  binary: (random) => Uint8Array.from({ length: random.int(1, 4096) }, () => random.int(0, 255)),
  zeros: () => new Uint8Array(512),
  empty: () => "",
  prose: () => "Dear kubelet,\n\nplease run: a pod\n- thanks\n",
  otherKind: (random) =>
    JSON.stringify({ apiVersion: "v1", kind: random.pick(["Service", "Node", "ConfigMap", "Deployment", "pod", ""]) }),
  otherVersion: (_, index) => JSON.stringify({ ...good(index), apiVersion: "v2" }),
  scalar: (random) => random.pick(["42", "null", "true", '"pod"', "[]", "{}"]),
  misspelt: (_, index) =>
    withPod(index, ({ spec }) => {
      spec["containerz"] = spec["containers"];
      delete spec["containers"];
    }),
  wrongType: (random, index) =>
    withPod(
      index,
      ({ spec }) => (spec["containers"] = random.pick<unknown>(["main", 7, { name: "main" }, [3], [null]])),
    ),
  noContainers: (_, index) => withPod(index, ({ spec }) => (spec["containers"] = [])),
  badName: (random, index) => withPod(index, ({ metadata }) => (metadata["name"] = badName(random))),
  twins: (_, index) => withPod(index, ({ spec }) => (spec["containers"] = [server(), server()])),
  badRestartPolicy: (_, index) => withPod(index, ({ spec }) => (spec["restartPolicy"] = "Sometimes")),
  badQuantity: (random, index) =>
    withPod(index, ({ spec }) => {
      const cpu = random.pick(["lots", "-1", "1e999", "5ZB"]);
      spec["containers"] = [server("main", ":", { resources: { requests: { cpu } } })];
    }),
  badMount: (_, index) =>
    withPod(index, ({ spec }) => {
      spec["containers"] = [server("main", ":", { volumeMounts: [{ name: "nothing", mountPath: "/x" }] })];
    }),
  secret: (_, index) => withPod(index, ({ spec }) => (spec["serviceAccountName"] = "default")),
  huge: (_, index) => withPod(index, ({ metadata }) => (metadata["annotations"] = { big: "x".repeat(1_200_000) })),
  deepYaml: (random) => nested(random.pick(["[", "{a: "]), random.int(5_000, 20_000)),
  deepJson: (random) => "[".repeat(random.int(5_000, 100_000)),
  bomb,
  duplicateKeys: (_, index) => `apiVersion: v1\nkind: Pod\nkind: Pod\nmetadata: {name: garbage-${index}}\n`,
  badUtf8: (_, index) =>
    Buffer.concat([Buffer.from(`# ${index} `), Buffer.from([0xff, 0xfe, 0xc0, 0x80]), Buffer.from("\n")]),
  tabs: (_, index) => `apiVersion: v1\n\tkind: Pod\nmetadata:\n\tname: garbage-${index}\n`,
};

/** This many files, every kind in turn. */
export function garbageManifests(count: number, seed: string): readonly GarbageFile[] {
  const random = createPrng(seed);
  const kinds = Object.entries(KINDS);
  return Array.from({ length: count }, (_, index) => {
    const [kind, make] = kinds[index % kinds.length] as (typeof kinds)[number];
    return { name: `garbage-${index}-${kind}.yaml`, content: make(random.fork(`${kind}-${index}`), index) };
  });
}
