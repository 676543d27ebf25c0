import { expect, it } from "vitest";
import { KUBELET_FLAGS } from "../../../src/cli/flags.ts";
import { loadKubeletOptions } from "../../../src/cli/loadKubeletOptions.ts";
import { parseFlags } from "../../../src/cli/parseKubeletFlags.ts";
import { machineOptions } from "../../../src/commands/machineOptions.ts";
import { machineWarnings } from "../../../src/commands/machineWarnings.ts";
import type { Machine } from "../../../src/ports/host.ts";
import { simMachine } from "../../../src/sim/host/simMachine.ts";
import { HEADER, memoryReaders } from "../cli/memoryReaders.ts";

async function optionsOf(argv: readonly string[], file: string) {
  const readers = memoryReaders({ "/k.yaml": HEADER + file });
  const loaded = await loadKubeletOptions(parseFlags([...argv, "--config=/k.yaml"], KUBELET_FLAGS), readers);
  if (!loaded.ok) throw new Error(loaded.errors.join("\n"));
  return loaded.options;
}

const LIMITED = "memorySwap: { swapBehavior: LimitedSwap }\n";

it.each<[title: string, argv: readonly string[], file: string, machine: Partial<Machine>, warnings: readonly string[]]>(
  [
    ["nothing on an ordinary machine", [], LIMITED, {}, []],
    [
      "swap for pods on cgroup v1",
      [],
      LIMITED,
      { cgroupVersion: 1 },
      ["memorySwap.swapBehavior LimitedSwap has no effect, containers get no swap: it needs cgroup v2"],
    ],
    [
      "missing IDs",
      ["--machine-id-file=/typo,/other"],
      "",
      { machineId: "", bootId: "" },
      [
        "the machine has no machine ID: none of /typo,/other is a readable file with content (see --machine-id-file)",
        "the machine has no boot ID: none of /proc/sys/kernel/random/boot_id is a readable file with content (see --boot-id-file)",
      ],
    ],
  ],
)("warns about %s", async (_, argv, file, more, warnings) => {
  expect(machineWarnings(await optionsOf(argv, file), simMachine(more))).toEqual(warnings);
});

it("the files with the IDs are those of the flags", async () => {
  const options = await optionsOf(["--machine-id-file=/a", "--boot-id-file=/b"], "");
  expect(machineOptions(options)).toMatchObject({ machineIdFiles: "/a", bootIdFiles: "/b" });
});
