import { describe, expect, it } from "vitest";
import type { Pod } from "../../../../src/core/api.ts";
import { encodePod, messageOf } from "../../../../src/core/podsApi/podMessage.ts";
import { podSchema } from "../../../../src/gen/podSchema.ts";
import { PodMessage } from "../../../../src/gen/pods.ts";
import { podOf } from "../../../support/pods.ts";

const decoded = (pod: Pod) => PodMessage.decode(encodePod(pod));

/** A value of every field that a type has, each different from the others. */
function filled(type: string, next: () => number): Record<string, unknown> {
  const valueOf = (kind: string): unknown => {
    if (kind.endsWith("[]")) return [valueOf(kind.slice(0, -2)), valueOf(kind.slice(0, -2))];
    if (kind.endsWith("{}")) return { [`key${next()}`]: valueOf(kind.slice(0, -2)) };
    switch (kind) {
      case "string":
        return `text${next()}`;
      case "boolean":
        return true;
      case "int32":
      case "int64":
        return next();
      case "date":
        return new Date(next() * 1_000).toISOString();
      case "quantity":
        return `${next()}Mi`;
      case "intOrString":
        return next() % 2 === 0 ? next() : `port${next()}`;
      case "any":
        return { "f:spec": next() };
      default:
        return filled(kind, next);
    }
  };
  return Object.fromEntries(Object.entries(podSchema[type] ?? {}).map(([name, kind]) => [name, valueOf(kind)]));
}

/** Removes what a message has for absent fields. */
function present(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(present);
  if (typeof value !== "object" || value === null || value instanceof Uint8Array) return value;
  const entries = Object.entries(value).map(([name, field]) => [name, present(field)] as const);
  return Object.fromEntries(
    entries.filter(([, field]) => {
      const isEmpty = typeof field === "object" && field !== null && Object.keys(field).length === 0;
      return field !== undefined && !isEmpty;
    }),
  );
}

describe("encodePod", () => {
  it("loses no field that a pod can have", () => {
    let last = 0;
    const pod = filled("Pod", () => ++last) as unknown as Pod;
    const { apiVersion: _, kind: __, ...fields } = messageOf("Pod", pod);
    expect(last).toBeGreaterThan(1_000);
    expect(present(decoded(pod))).toEqual(present(fields));
  });

  it("has the published numbers of fields", () => {
    const bytes = encodePod({
      metadata: { name: "a", uid: "u" } as Pod["metadata"],
      spec: { containers: [{ name: "c", resources: { limits: { cpu: "1" } } }] },
      status: { phase: "Running" },
    });
    expect(Buffer.from(bytes).toString("hex")).toBe(
      [
        ["0a06", "0a0161", "2a0175"],
        ["1213", "1211", "0a0163", "420c", "0a0a", "0a03637075", "12030a0131"],
        ["1a09", "0a0752756e6e696e67"],
      ]
        .flat()
        .join(""),
    );
  });

  it("keeps a false and a zero apart from an absent value", () => {
    const pod = podOf({
      spec: {
        automountServiceAccountToken: false,
        containers: [{ name: "main", securityContext: { runAsUser: 0 } }],
      },
    });
    const { spec } = decoded(pod);
    expect([spec?.automountServiceAccountToken, spec?.hostNetwork]).toEqual([false, undefined]);
    expect(spec?.containers[0]?.securityContext?.runAsUser).toBe(0n);
  });

  it.each<[string, object, unknown]>([
    [
      "a time",
      { metadata: { creationTimestamp: "2026-01-02T03:04:05.25Z" } },
      { seconds: 1767323045n, nanos: 250_000_000 },
    ],
    ["text that is no time", { metadata: { creationTimestamp: "soon" } }, undefined],
    ["a number as a time", { metadata: { creationTimestamp: 5 } }, undefined],
  ])("has %s", (_, pod, expected) => {
    expect(PodMessage.decode(encodePod(pod as Pod)).metadata?.creationTimestamp).toEqual(expected);
  });

  it.each<[string, unknown]>([
    ["a text instead of a list", { spec: { containers: "c" } }],
    ["a list instead of a message", { spec: [1] }],
    ["a number instead of a text", { metadata: { name: 5 } }],
    ["a fraction and a huge number", { spec: { activeDeadlineSeconds: 1.5, terminationGracePeriodSeconds: 2 ** 60 } }],
    ["a port out of range", { spec: { containers: [{ ports: [{ containerPort: 2 ** 40 }] }] } }],
    ["an unknown field", { spec: { surprise: { deep: [{}] } } }],
  ])("leaves out %s", (_, pod) => {
    expect(() => encodePod(pod as Pod)).not.toThrow();
  });
});
