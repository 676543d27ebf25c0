/**
 * The page `/metrics/cadvisor` in the Prometheus text format. Generated family by family, so that the caller can pause:
 * it may have tens of thousands of lines. Upstream: prometheusNewCollector of the kubelet's server.
 */
import { CADVISOR_FAMILIES, type CadvisorFamily } from "./cadvisorFamilies.ts";
import { type CadvisorMeasurement, cadvisorSubjects, type Subject } from "./cadvisorSubjects.ts";
import { type Family, familyText, labelText, type Sample } from "./exposition.ts";

/** Machine facts that do not change while the node is up. */
export interface CadvisorMachine {
  readonly cpuCount: number;
  readonly cpuTopology: { readonly cores: number; readonly sockets: number } | undefined;
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

function machineFamilies(machine: CadvisorMachine): readonly Family[] {
  const { bootId, machineId, systemUuid } = machine;
  const labels = labelText({ boot_id: bootId, machine_id: machineId, system_uuid: systemUuid });
  const family = (name: string, help: string, value: number | undefined): Family => ({
    ...{ name: `machine_${name}`, help, type: "gauge" },
    samples: [{ labels, value }],
  });
  return [
    family("cpu_cores", "Logical CPUs.", machine.cpuCount),
    family("cpu_physical_cores", "CPU cores.", machine.cpuTopology?.cores),
    family("cpu_sockets", "CPU sockets.", machine.cpuTopology?.sockets),
    family("memory_bytes", "Memory.", Number(machine.memoryBytes)),
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
  ...["machine_cpu_sockets", "machine_memory_bytes", "machine_scrape_error", "machine_swap_bytes"],
]);
