/**
 * The page `/metrics/cadvisor` in the Prometheus text format. Generated family by family, so that the caller can pause:
 * it may have tens of thousands of lines. Upstream: prometheusNewCollector of the kubelet's server, which leaves out
 * cadvisor's families of NUMA nodes, caches and threads.
 */
import { CADVISOR_FAMILIES, type CadvisorFamily } from "./cadvisorFamilies.ts";
import { type CadvisorMeasurement, cadvisorSubjects, type Subject } from "./cadvisorSubjects.ts";
import { type Family, familyText, labelText, type Sample } from "./exposition.ts";

/** Machine facts that do not change while the node is up. */
export interface CadvisorMachine {
  readonly cpuCount: number;
  readonly cpuTopology:
    | { readonly cores: number; readonly sockets: number; readonly books: number; readonly drawers: number }
    | undefined;
  readonly memoryModules: readonly { readonly type: string; readonly count: number; readonly bytes: number }[];
  readonly memoryBytes: bigint;
  readonly swapBytes: bigint;
  readonly bootId: string;
  readonly machineId: string;
  readonly systemUuid: string;
  readonly kernelVersion: string;
  readonly osImage: string;
}

/** Yields one text per family with a figure, in order of name. Without a measurement the page reports an error. */
export function* cadvisorMetrics(
  machine: CadvisorMachine,
  measurement: CadvisorMeasurement | undefined,
): Generator<string> {
  const subjects = measurement === undefined ? [] : cadvisorSubjects(measurement);
  yield familyText(versionFamily(machine));
  for (const family of CADVISOR_FAMILIES) yield textOf(family, subjects);
  yield familyText(errorFamily("container", subjects.length === 0));
  for (const family of machineFamilies(machine)) yield familyText(family);
}

function textOf({ name, help, type, samplesOf }: CadvisorFamily, subjects: readonly Subject[]): string {
  const samples = subjects.flatMap((subject): readonly Sample[] =>
    samplesOf(subject).map(({ labels, ...sample }) => ({
      ...sample,
      labels: labels === undefined ? subject.labels : `${subject.labels},${labels}`,
    })),
  );
  return familyText({ name, help, type, samples });
}

/** rxlet does not contain cadvisor, so the cadvisor version is empty. */
const versionFamily = ({ kernelVersion, osImage }: CadvisorMachine): Family => ({
  name: "cadvisor_version_info",
  help: "Versions of the kernel and the operating system.",
  type: "gauge",
  samples: [
    {
      labels: labelText({
        ...{ cadvisorRevision: "", cadvisorVersion: "", dockerVersion: "" },
        ...{ kernelVersion, osVersion: osImage },
      }),
      value: 1,
    },
  ],
});

/** Upstream's kubelet is built without the library that finds persistent memory (libipmctl), and reports 0 too. */
const NVM_MODES = ["app_direct_mode", "memory_mode"];

function machineFamilies(machine: CadvisorMachine): readonly Family[] {
  const { bootId, machineId, systemUuid, cpuTopology, memoryModules } = machine;
  const labelsWith = (more: Readonly<Record<string, string>>): string =>
    labelText({ boot_id: bootId, machine_id: machineId, ...more, system_uuid: systemUuid });
  const labels = labelsWith({});
  const families = (name: string, help: string, samples: readonly Sample[]): Family => ({
    ...{ name: `machine_${name}`, help, type: "gauge", samples },
  });
  const family = (name: string, help: string, value: number | undefined): Family =>
    families(name, help, [{ labels, value }]);
  const modules = (name: string, help: string, figure: "count" | "bytes"): Family =>
    families(
      name,
      help,
      memoryModules.map((each) => ({ labels: `${labels},${labelText({ type: each.type })}`, value: each[figure] })),
    );
  return [
    family("cpu_books", "CPU books; 0 but on mainframes.", cpuTopology?.books ?? 0),
    family("cpu_cores", "Logical CPUs.", machine.cpuCount),
    family("cpu_drawers", "CPU drawers; 0 but on mainframes.", cpuTopology?.drawers ?? 0),
    family("cpu_physical_cores", "CPU cores.", cpuTopology?.cores),
    family("cpu_sockets", "CPU sockets.", cpuTopology?.sockets),
    modules("dimm_capacity_bytes", "Capacity of memory modules.", "bytes"),
    modules("dimm_count", "Memory modules.", "count"),
    family("memory_bytes", "Memory.", Number(machine.memoryBytes)),
    family("nvm_avg_power_budget_watts", "Power budget of persistent memory; 0, as it is not detected.", 0),
    families(
      "nvm_capacity",
      "Capacity of persistent memory; 0, as it is not detected.",
      NVM_MODES.map((mode) => ({ labels: labelsWith({ mode }), value: 0 })),
    ),
    errorFamily("machine", false),
    family("swap_bytes", "Swap.", Number(machine.swapBytes)),
  ];
}

const errorFamily = (what: "container" | "machine", isError: boolean): Family => ({
  name: `${what}_scrape_error`,
  help: `1 if there was an error while getting ${what} metrics, 0 otherwise`,
  type: "gauge",
  samples: [{ value: isError ? 1 : 0 }],
});

/** Names of all families on the page. */
export const CADVISOR_METRIC_NAMES: ReadonlySet<string> = new Set([
  ...CADVISOR_FAMILIES.map(({ name }) => name),
  ...["cadvisor_version_info", "container_scrape_error", "machine_cpu_cores", "machine_cpu_physical_cores"],
  ...["machine_cpu_books", "machine_cpu_drawers", "machine_cpu_sockets", "machine_dimm_capacity_bytes"],
  ...["machine_dimm_count", "machine_memory_bytes", "machine_nvm_avg_power_budget_watts", "machine_nvm_capacity"],
  ...["machine_scrape_error", "machine_swap_bytes"],
]);
