import { describe, expect, it } from "vitest";
import type { Container, PodSpec } from "../../../../src/core/api.ts";
import {
  aggregateAmount,
  defaultPodResources,
  defaultRequests,
  resourceNamesOf,
} from "../../../../src/core/pod/defaultResources.ts";
import { formatQuantity } from "../../../../src/core/quantity.ts";

type Amounts = Readonly<Record<string, string>>;
interface Resources {
  readonly requests?: Amounts;
  readonly limits?: Amounts;
}
const container = (resources: Resources, more: Partial<Container> = {}): Container => ({
  name: "c",
  resources,
  ...more,
});
const sidecar = (resources: Resources): Container => container(resources, { restartPolicy: "Always" });

describe("defaultRequests", () => {
  it.each<[Resources | undefined, Resources]>([
    [undefined, {}],
    [{}, {}],
    [{ limits: { cpu: "1" } }, { limits: { cpu: "1" }, requests: { cpu: "1" } }],
    [{ requests: { cpu: "1" } }, { requests: { cpu: "1" } }],
    [
      { limits: { cpu: "2", memory: "1Gi" }, requests: { cpu: "1", "example.com/a": "1" } },
      { limits: { cpu: "2", memory: "1Gi" }, requests: { cpu: "1", memory: "1Gi", "example.com/a": "1" } },
    ],
    [
      { limits: { cpu: "0.0001" }, requests: { cpu: "1.0005", memory: "many" } },
      { limits: { cpu: "1m" }, requests: { cpu: "1001m", memory: "many" } },
    ],
  ])("completes %j", (resources, expected) => {
    expect(defaultRequests({ name: "c", ...(resources && { resources }) }).resources).toEqual(expected);
  });
});

const cpu = (amount: string): Resources => ({ requests: { cpu: amount } });

describe("aggregateAmount", () => {
  it.each<[title: string, containers: readonly Resources[], init: readonly Container[] | undefined, amount: string]>([
    ["no amounts", [{}], undefined, "0"],
    ["an amount that is malformed", [cpu("x"), cpu("1")], undefined, "1"],
    ["containers together", [cpu("1"), cpu("2")], undefined, "3"],
    ["an init container that needs less", [cpu("3")], [container(cpu("2"))], "3"],
    ["an init container that needs more", [cpu("3")], [container(cpu("4"))], "4"],
    ["init containers one after another", [cpu("3")], [container(cpu("4")), container(cpu("2"))], "4"],
    ["sidecars beside the containers", [cpu("3")], [sidecar(cpu("1")), sidecar(cpu("1"))], "5"],
    ["an init container beside an earlier sidecar", [cpu("1")], [sidecar(cpu("2")), container(cpu("3"))], "5"],
    ["an init container before a sidecar", [cpu("1")], [container(cpu("3")), sidecar(cpu("1"))], "3"],
  ])("counts %s", (_, containers, initContainers, amount) => {
    const spec: PodSpec = {
      containers: containers.map((each) => container(each)),
      ...(initContainers && { initContainers: [...initContainers] }),
    };
    expect(formatQuantity(aggregateAmount(spec, "requests", "cpu"))).toBe(amount);
    expect(formatQuantity(aggregateAmount(spec, "limits", "cpu"))).toBe("0");
  });
});

it("resourceNamesOf lists containers before init containers, each name once", () => {
  const spec: PodSpec = {
    containers: [container({ limits: { b: "1", a: "1" } }), container({ requests: { x: "1" } })],
    initContainers: [container({ limits: { c: "1", a: "1" } })],
  };
  expect([resourceNamesOf(spec, "limits"), resourceNamesOf(spec, "requests")]).toEqual([["b", "a", "c"], ["x"]]);
  expect(resourceNamesOf({ containers: [container({ limits: { b: "1" } })] }, "limits")).toEqual(["b"]);
});

describe("defaultPodResources", () => {
  const completed = (
    resources: Resources | undefined,
    containers: readonly Resources[],
    init: readonly Resources[] = [],
  ) =>
    defaultPodResources({
      containers: containers.map((each) => container(each)),
      ...(init.length > 0 && { initContainers: init.map((each) => container(each)) }),
      ...(resources && { resources }),
    }).resources;

  it.each<
    [title: string, stated: Resources | undefined, containers: readonly Resources[], expected: object | undefined]
  >([
    ["nothing is stated", undefined, [{ limits: { cpu: "1" } }], undefined],
    ["empty resources are stated", {}, [{ limits: { cpu: "1" } }], {}],
    [
      "empty amounts are stated",
      { requests: {}, limits: {} },
      [{ limits: { cpu: "1" } }],
      { requests: {}, limits: {} },
    ],
    [
      "limits are stated: requests come from containers, then from the limits",
      { limits: { cpu: "4", memory: "1Gi" } },
      [cpu("1"), cpu("500m")],
      { limits: { cpu: "4", memory: "1Gi" }, requests: { cpu: "1500m", memory: "1Gi" } },
    ],
    [
      "stated requests stay",
      { limits: { cpu: "4" }, requests: { cpu: "3" } },
      [cpu("1")],
      { limits: { cpu: "4" }, requests: { cpu: "3" } },
    ],
    [
      "requests of resources that no pod can state stay with the containers",
      { limits: { cpu: "4" } },
      [{ requests: { "example.com/a": "1" } }],
      { limits: { cpu: "4" }, requests: { cpu: "4" } },
    ],
    [
      "requests are stated: limits come from containers that all have one",
      { requests: { cpu: "1" } },
      [{ limits: { cpu: "1", memory: "1Gi" } }, { limits: { cpu: "2" } }],
      { requests: { cpu: "1" }, limits: { cpu: "3" } },
    ],
    ["requests are stated and no container has a limit", { requests: { cpu: "1" } }, [{}], { requests: { cpu: "1" } }],
    [
      "limits of resources that no pod can state stay with the containers",
      { requests: { cpu: "1" } },
      [{ limits: { "example.com/a": "1" } }],
      { requests: { cpu: "1" } },
    ],
    [
      "huge pages of containers become the pod's limit and request",
      { requests: { cpu: "1" } },
      [{ limits: { "hugepages-2Mi": "2Mi" } }, { limits: { "hugepages-2Mi": "2Mi" } }],
      { requests: { cpu: "1", "hugepages-2Mi": "4Mi" }, limits: { "hugepages-2Mi": "4Mi" } },
    ],
    [
      "huge pages that the pod requests get no limit from containers",
      { requests: { "hugepages-2Mi": "2Mi" } },
      [{ limits: { "hugepages-2Mi": "2Mi" } }],
      { requests: { "hugepages-2Mi": "2Mi" } },
    ],
    [
      "requests of huge pages stay with the containers",
      { limits: { cpu: "1" } },
      [{ requests: { "hugepages-2Mi": "2Mi" } }],
      { limits: { cpu: "1" }, requests: { cpu: "1" } },
    ],
    [
      "amounts are rounded up to thousandths",
      { limits: { cpu: "0.0001" }, requests: { cpu: "0.0001" } },
      [{}],
      { limits: { cpu: "1m" }, requests: { cpu: "1m" } },
    ],
  ])("when %s", (_, stated, containers, expected) => {
    expect(completed(stated, containers)).toEqual(expected);
  });

  it("takes a limit from containers only if init containers have one too", () => {
    const limited: Resources = { limits: { cpu: "1" } };
    expect([completed(cpu("1"), [limited], [{}]), completed(cpu("1"), [limited], [limited])]).toEqual([
      cpu("1"),
      { ...cpu("1"), ...limited },
    ]);
  });
});
