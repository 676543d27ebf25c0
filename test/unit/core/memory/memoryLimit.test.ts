import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, it } from "vitest";
import { oldSpaceLimit } from "../../../../src/core/memory/memoryLimit.ts";
import { memoryLimitOfCgroup } from "../../../../src/sources/memoryReadings.ts";
import { temporaryDirectory } from "../../../support/temporaryDirectory.ts";

const V1 = "9:name=systemd:/\n4:cpu,memory:/system/rxlet\n0::/\n";
const V2 = "0::/system.slice/rxlet.service\n";
const MIB = 1_048_576;

const directory = temporaryDirectory();

it.each<[title: string, files: Readonly<Record<string, string>>, limit: number | undefined]>([
  ["no cgroups", {}, undefined],
  [
    "v1: the limit of the cgroup or its parents",
    {
      "proc/self/cgroup": V1,
      "sys/fs/cgroup/memory/system/rxlet/memory.stat": `cache 1\nhierarchical_memory_limit ${64 * MIB}\n`,
    },
    64 * MIB,
  ],
  [
    "v1: no limit",
    {
      "proc/self/cgroup": V1,
      "sys/fs/cgroup/memory/system/rxlet/memory.stat": "hierarchical_memory_limit 9223372036854771712\n",
    },
    undefined,
  ],
  [
    "v1: a container sees its cgroup at the root",
    {
      "proc/self/cgroup": V1,
      "sys/fs/cgroup/memory/memory.stat": `hierarchical_memory_limit ${32 * MIB}\n`,
    },
    32 * MIB,
  ],
  [
    "v2: the lowest limit on the way up",
    {
      "proc/self/cgroup": V2,
      "sys/fs/cgroup/cgroup.controllers": "memory\n",
      "sys/fs/cgroup/system.slice/memory.max": `${48 * MIB}\n`,
      "sys/fs/cgroup/system.slice/rxlet.service/memory.max": `${96 * MIB}\n`,
    },
    48 * MIB,
  ],
  [
    "v2: no limit",
    {
      "proc/self/cgroup": V2,
      "sys/fs/cgroup/cgroup.controllers": "memory\n",
      "sys/fs/cgroup/system.slice/memory.max": "max\n",
      "sys/fs/cgroup/system.slice/rxlet.service/memory.max": "max\n",
    },
    undefined,
  ],
])("%s", (_, files, limit) => {
  const prefix = directory();
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(prefix, path)), { recursive: true });
    writeFileSync(join(prefix, path), text);
  }
  expect(memoryLimitOfCgroup(prefix)).toBe(limit);
});

it.each<[title: string, limitMib: number, options: readonly string[], oldMib: number]>([
  ["as given", 288, ["--max-old-space-size=96"], 96],
  ["as given last, in either spelling", 288, ["--max-old-space-size=64", "--max_old_space_size=96"], 96],
  ["all but the usual young generation", 2_240, ["--enable-source-maps"], 2_048],
  ["all but the young generation that was asked for", 2_096, ["--max-semi-space-size=16"], 2_048],
  ["all of a small heap", 200, [], 200],
  ["all of a heap twice the young generation", 384, [], 384],
  ["the rest of a larger one", 385, [], 193],
  ["no size that is not a number above 0", 200, ["--max-old-space-size=0"], 200],
  ["no size of another option", 200, ["--max-old-space-size-x=96"], 200],
])("the old generation's limit: %s", (_, limitMib, options, oldMib) => {
  expect(oldSpaceLimit(limitMib * MIB, options)).toBe(oldMib * MIB);
});
