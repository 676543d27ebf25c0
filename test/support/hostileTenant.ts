/**
 * The pods of a tenant that means harm to the node, and the objects they need: each uses one thing the owner of a pod
 * decides (a pipe in place of a message, a registry pattern, variables that multiply, trees of files, mount points, places
 * on a dead server).
 */
import { writeFileSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { firstValueFrom } from "rxjs";
import type { Container, Pod } from "../../src/core/api.ts";
import type { SimApiServer } from "../../src/sim/apiServer/simApiServer.ts";
import { BUSYBOX_IMAGE } from "./images.ts";

const FILES_PER_FOLDER = 1000;

type Spec = Partial<Pod["spec"]>;

/** A pod of the tenant. */
export interface HostilePod {
  readonly name: string;
  readonly spec: Spec;
}

/** How large the attacks are. */
export interface HostileSize {
  /** Entries of each tree of files. */
  readonly files: number;
  /** Nested directories. */
  readonly depth: number;
  /** Mount points below one volume. */
  readonly mounts: number;
  /** A directory of the node whose server never answers; without it no pod of the tenant uses one. */
  readonly dead?: string;
}

const shell = (text: string, more: Partial<Container> = {}): Container => ({
  name: "main",
  image: BUSYBOX_IMAGE,
  command: ["/bin/sh", "-c", text],
  ...more,
});

const DATA = { volumes: [{ name: "v", emptyDir: {} }] } as const;
const AT_DATA = { volumeMounts: [{ name: "v", mountPath: "/v" }] } as const;
const FOREVER = "exec sleep 3600";

/** A pipe that nobody writes to stands where the termination message is read. */
const pipeAsMessage: HostilePod = {
  name: "pipe-as-message",
  spec: {
    ...DATA,
    restartPolicy: "Always",
    initContainers: [shell("mkfifo /v/f", { name: "init", ...AT_DATA })],
    containers: [shell("exit 1", { volumeMounts: [{ name: "v", mountPath: "/dev/termination-log", subPath: "f" }] })],
  },
};

/** A pattern that a backtracking expression needs minutes for. */
const registryPattern: HostilePod = {
  name: "registry-pattern",
  spec: {
    imagePullSecrets: [{ name: "patterns" }],
    containers: [{ name: "main", image: `${"a".repeat(63)}.example/x`, imagePullPolicy: "Always" }],
  },
};

/** Each variable is a hundred times the one before: 100 GB after four. */
const multiplyingVariables: HostilePod = {
  name: "multiplying-variables",
  spec: {
    containers: [
      shell(FOREVER, {
        env: Array.from({ length: 5 }, (_, index) => ({
          name: `A${index}`,
          value: index === 0 ? "x".repeat(1000) : `$(A${index - 1})`.repeat(100),
        })),
      }),
    ],
  },
};

/** Many entries with long names, most of them links to one file. */
const wideTree = ({ files }: HostileSize): HostilePod => ({
  name: "wide-tree",
  spec: {
    volumes: [{ name: "v", emptyDir: { sizeLimit: "10Gi" } }],
    containers: [
      shell(
        `cd /v && touch f && n=$(printf '%0200d' 0) && i=0; while [ $i -lt ${files} ]; do ` +
          `: > "$n-$i"; i=$((i+1)); done; ${FOREVER}`,
        AT_DATA,
      ),
    ],
  },
});

/** A directory in a directory, and so on, deeper than a path can say. */
const deepTree = ({ depth }: HostileSize): HostilePod => ({
  name: "deep-tree",
  spec: {
    volumes: [{ name: "v", emptyDir: { sizeLimit: "10Gi" } }],
    containers: [
      shell(`cd /v; i=0; while [ $i -lt ${depth} ]; do mkdir d && cd d; i=$((i+1)); done; ${FOREVER}`, AT_DATA),
    ],
  },
});

/** Thousands of mount points below one read-only volume, some of them by several names. */
const mountPoints = ({ mounts }: HostileSize): HostilePod => ({
  name: "mount-points",
  spec: {
    volumes: [
      { name: "config", configMap: { name: "words" } },
      { name: "v", emptyDir: {} },
    ],
    containers: [
      shell(FOREVER, {
        volumeMounts: [
          { name: "config", mountPath: "/config" },
          ...Array.from({ length: mounts }, (_, index) => ({
            name: "v",
            mountPath: `/config${"/".repeat(1 + (index % 3))}p${index}`,
          })),
        ],
      }),
    ],
  },
});

/** A group for a volume whose content the tenant made before: a claim on a local volume. */
const groupOfTree: HostilePod = {
  name: "group-of-tree",
  spec: {
    securityContext: { fsGroup: 4321 },
    volumes: [{ name: "v", persistentVolumeClaim: { claimName: "tree" } }],
    containers: [shell(FOREVER, AT_DATA)],
  },
};

/** More than its volume may hold, among so many files that counting them takes long. */
const overLimit = ({ files }: HostileSize): HostilePod => ({
  name: "over-limit",
  spec: {
    volumes: [{ name: "v", emptyDir: { sizeLimit: "1Mi" } }],
    containers: [
      shell(
        `cd /v && i=0; while [ $i -lt ${files} ]; do : > "$i"; i=$((i+1)); done; ` +
          `head -c 4194304 /dev/zero > z; ${FOREVER}`,
        AT_DATA,
      ),
    ],
  },
});

/** More than libuv has threads. */
const DEAD_PODS = 20;

/** Places on a dead server, each looked at before its pod starts. */
const deadPlaces = ({ dead }: HostileSize): readonly HostilePod[] =>
  Array.from({ length: dead === undefined ? 0 : DEAD_PODS }, (_, index) => ({
    name: `dead-place-${index}`,
    spec: {
      volumes: [{ name: "v", hostPath: { path: `${dead}/${index}`, type: "DirectoryOrCreate" } }],
      containers: [shell(FOREVER, AT_DATA)],
    },
  }));

/** All pods of the tenant. */
export const hostilePods = (size: HostileSize): readonly HostilePod[] => [
  pipeAsMessage,
  registryPattern,
  multiplyingVariables,
  wideTree(size),
  deepTree(size),
  mountPoints(size),
  groupOfTree,
  overLimit(size),
  ...deadPlaces(size),
];

const metadata = (name: string) => ({ namespace: "default", name });
const PATTERNS = Object.fromEntries(
  [7, 20, 40].map((stars) => [`${"*a".repeat(stars)}b.example`, { username: "u", password: "p" }]),
);

/** Creates the objects that the pods name. `tree`: a directory of this machine that the tenant filled. */
export async function giveHostileObjects(server: SimApiServer, tree: string): Promise<void> {
  server.put("configmaps", { metadata: metadata("words"), data: { word: "w" } });
  server.put("secrets", {
    metadata: metadata("patterns"),
    type: "kubernetes.io/dockerconfigjson",
    data: { ".dockerconfigjson": btoa(JSON.stringify({ auths: PATTERNS })) },
  });
  const claim = server.put("persistentvolumeclaims", { metadata: metadata("tree"), spec: { volumeName: "tree" } });
  const claimRef = { ...metadata("tree"), uid: claim.metadata?.uid ?? "" };
  server.put("persistentvolumes", { metadata: { name: "tree" }, spec: { claimRef, local: { path: tree } } });
  const bound = { ...claim, status: { phase: "Bound" } };
  await firstValueFrom(server.client().update("persistentvolumeclaims", bound, { subresource: "status" }));
}

/** Fills a directory with so many empty files. */
export async function fillTree(directory: string, files: number): Promise<void> {
  for (let made = 0; made < files; ) {
    const folder = join(directory, String(made));
    await mkdir(folder, { recursive: true });
    for (const end = Math.min(made + FILES_PER_FOLDER, files); made < end; made += 1) {
      writeFileSync(join(folder, String(made)), "");
    }
  }
}
