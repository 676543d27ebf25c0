import { describe, expect, it } from "vitest";
import type { Container, Pod } from "../../../../src/core/api.ts";
import { type ConfigObject, configObjectsOf } from "../../../../src/core/configObjects.ts";
import { containerEnvironment } from "../../../../src/core/container/env.ts";
import type { EnvFiles } from "../../../../src/core/container/envFile.ts";
import { expand } from "../../../../src/core/container/expansion.ts";
import type { ServiceForEnv } from "../../../../src/core/container/serviceEnv.ts";
import { MAX_CONTAINER_TEXT_BYTES, textBudget } from "../../../../src/core/container/textBudget.ts";
import { expectLinear } from "../../../support/expectLinear.ts";
import { containerOf, podOf } from "../../../support/pods.ts";

const KIB = 1024;
const MIB = 1024 * KIB;
type EnvVars = NonNullable<Container["env"]>;

describe("expand", () => {
  const text = "$(A) and $(A)";
  const values = (name: string) => (name === "A" ? "x".repeat(100) : undefined);

  it("produces at most the maximum of characters", () => {
    expect(expand(text, values, 205)).toHaveLength(205);
    expect(expand(text, values, 204)).toBeUndefined();
    expect(expand("plain", values, 5)).toBe("plain");
    expect(expand("plain", values, 4)).toBeUndefined();
  });

  it("requests no more values beyond the maximum", () => {
    let asked = 0;
    const value = "x".repeat(KIB);
    const count = (): string => {
      asked += 1;
      return value;
    };
    expect(expand("$(A)".repeat(100_000), count, 10 * KIB)).toBeUndefined();
    expect(asked).toBeLessThan(20);
  });

  it.each(["$(", "$($", "$$", "$(A", "$(A)", "$", ")$("])("expands text of many %s in linear time", (piece) => {
    expectLinear(
      (size) => piece.repeat(size / piece.length),
      (long) => expand(long, () => undefined, Number.POSITIVE_INFINITY),
    );
  });
});

describe("textBudget", () => {
  it("allows exactly its bytes, counted in UTF-8, and names container, field and bound", () => {
    const budget = textBudget("web", "what it says");
    expect(budget.take("a", MAX_CONTAINER_TEXT_BYTES - 4)).toEqual({ ok: true, value: undefined });
    expect(budget.expand("b", "é", () => undefined)).toEqual({ ok: true, value: "é" });
    expect(budget.expand("c", "$(E)", () => "éé")).toMatchObject({
      error: {
        code: "InvalidArgument",
        reason: "CreateContainerConfigError",
        message: 'container "web": c: what it says must be at most 6291456 bytes in all',
      },
    });
    expect(budget.take("d", 2)).toEqual({ ok: true, value: undefined });
    expect(budget.take("e", 1)).toMatchObject({ ok: false });
  });
});

interface Given {
  readonly container?: Partial<Container>;
  readonly pod?: Pod;
  readonly objects?: readonly ConfigObject[];
  readonly services?: readonly ServiceForEnv[];
  readonly files?: EnvFiles;
}

describe("the environment of a container is bounded against", () => {
  const environment = (env: EnvVars, { container = {}, pod = podOf(), ...given }: Given = {}) => {
    const result = containerEnvironment({
      pod,
      container: containerOf({ env, ...container }),
      addresses: { podIps: [], nodeIps: [] },
      objects: configObjectsOf(given.objects ?? [], given.services ?? []),
      files: given.files ?? new Map(),
      node: { allocatable: {}, hostIpUnknown: "" },
    });
    return result.ok ? result.value.length : result.error.message;
  };
  const tooMuch = (field: string) =>
    `container "main": ${field}: environment, command and arguments must be at most 6291456 bytes in all`;
  const many = (count: number, of: (index: number) => EnvVars[number]): EnvVars =>
    Array.from({ length: count }, (_, index) => of(index));

  it("values that repeat each other", () => {
    const env = many(10, (index) => ({
      name: `A${index}`,
      value: index === 0 ? "x".repeat(1000) : `$(A${index - 1})`.repeat(100),
    }));
    expect(environment(env)).toBe(tooMuch("env[2]"));
  });

  it("a name that doubles itself", () => {
    const env = many(60, (index) => ({ name: "A", value: index === 0 ? "x" : "$(A)$(A)" }));
    expect(environment(env)).toBe(tooMuch("env[22]"));
  });

  const big = {
    kind: "ConfigMap",
    metadata: { name: "big", namespace: "demo" },
    data: { K: "x".repeat(MIB) },
  } as const;
  const login = {
    kind: "Secret",
    metadata: { name: "login", namespace: "demo" },
    data: { K: btoa("x".repeat(MIB)) },
  } as const;

  it("whole ConfigMaps and Secrets that are referenced repeatedly", () => {
    const times = (count: number): Given => ({
      container: {
        envFrom: Array.from({ length: count }, (_, index) => ({ prefix: `P${index}`, configMapRef: { name: "big" } })),
      },
      objects: [big],
    });
    expect(environment([], times(5))).toBe(5);
    expect(environment([], times(10_000))).toBe(tooMuch("envFrom[5]"));
  });

  it("keys of ConfigMaps and Secrets", () => {
    const secrets = many(10_000, (index) => ({
      name: `S${index}`,
      valueFrom: { secretKeyRef: { name: "login", key: "K" } },
    }));
    expect(environment(secrets.slice(0, 6), { objects: [login] })).toBe(6);
    expect(environment(secrets, { objects: [login] })).toBe(tooMuch("env[6]"));
  });

  it("annotations of the pod", () => {
    const pod = podOf({ annotations: { long: "x".repeat(256 * KIB - 100) } });
    const env = many(10_000, (index) => ({
      name: `A${index}`,
      valueFrom: { fieldRef: { fieldPath: "metadata.annotations" } },
    }));
    expect(environment(env, { pod })).toBe(tooMuch("env[24]"));
  });

  it("values from files", () => {
    const content = { ok: true, value: `K='${"x".repeat(MIB - 4)}'` } as const;
    const env = many(10_000, (index) => ({
      name: `A${index}`,
      valueFrom: { fileKeyRef: { volumeName: "v", path: "f", key: "K" } },
    }));
    expect(environment(env, { files: new Map([["v/f", { path: "/v/f", content }]]) })).toBe(tooMuch("env[6]"));
  });

  it("services of the namespace", () => {
    const service = (name: string): ServiceForEnv => ({
      name,
      namespace: "demo",
      clusterIp: "10.2.0.7",
      ports: [{ port: 80 }],
    });
    const services = Array.from({ length: 20_000 }, (_, index) => service(`service-number-${index}-of-very-many`));
    expect(environment([], { services: services.slice(0, 1000) })).toBe(7000);
    expect(environment([], { services })).toBe(tooMuch("variables of services"));
  });
});

describe("the environment of a container takes linear time for", () => {
  const made = (container: Container, pod: Pod, files: EnvFiles = new Map()) =>
    containerEnvironment({
      pod,
      container,
      addresses: { podIps: [], nodeIps: [] },
      objects: configObjectsOf([]),
      files,
      node: { allocatable: {}, hostIpUnknown: "" },
    });

  it("many variables from one file", () => {
    const value = Array.from({ length: 16_000 }, (_, index) => `K${index}='v'`).join("\n");
    const files: EnvFiles = new Map([["v/f", { path: "/v/f", content: { ok: true, value } }]]);
    expectLinear(
      (size) =>
        containerOf({
          env: Array.from({ length: size }, (_, index) => ({
            name: `A${index}`,
            valueFrom: { fileKeyRef: { volumeName: "v", path: "f", key: `K${index % 16_000}` } },
          })),
        }),
      (container) => made(container, podOf(), files),
      16 * KIB,
    );
  });

  it("many variables with resources and containers", () => {
    expectLinear(
      (size) => {
        const limits = Object.fromEntries(Array.from({ length: size }, (_, index) => [`example.com/r${index}`, "1"]));
        const main = containerOf({
          resources: { limits },
          env: Array.from({ length: size }, (_, index) => ({
            name: `A${index}`,
            valueFrom: { resourceFieldRef: { resource: "limits.cpu", containerName: `c${size - 1}` } },
          })),
        });
        const others = Array.from({ length: size }, (_, index) =>
          containerOf({ name: `c${index}`, resources: { limits } }),
        );
        return { main, pod: podOf({ spec: { containers: [main, ...others] } }) };
      },
      ({ main, pod }) => made(main, pod),
      8 * KIB,
    );
  });
});
