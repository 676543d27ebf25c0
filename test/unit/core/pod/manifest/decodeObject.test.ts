import { describe, expect, it } from "vitest";
import type { DecodedPod } from "../../../../../src/core/pod/defaults.ts";
import { decodeObject } from "../../../../../src/core/pod/manifest/decodeObject.ts";

const decode = (input: unknown) => {
  const { value, problems } = decodeObject<DecodedPod>("Pod", input);
  return { value, problems: problems.map(({ severity, field, reason }) => `${severity} ${field}: ${reason}`) };
};
const ofContainer = (container: object) => decode({ spec: { containers: [container] } });

describe("decodeObject", () => {
  it("passes a valid value through, with quantities in canonical form", () => {
    const input = {
      metadata: { name: "a", labels: { x: "y" }, creationTimestamp: "2026-01-01T00:00:00Z" },
      spec: {
        containers: [
          {
            name: "c",
            resources: { limits: { cpu: 0.5, memory: "1024Mi" } },
            ports: [{ containerPort: 80 }],
            livenessProbe: { httpGet: { port: "web" }, tcpSocket: { port: 80 } },
          },
        ],
      },
    };
    expect(decode(input)).toEqual({
      problems: [],
      value: {
        ...input,
        spec: { containers: [{ ...input.spec.containers[0], resources: { limits: { cpu: "500m", memory: "1Gi" } } }] },
      },
    });
  });
  it.each<[string, unknown, unknown]>([
    ["Secret", { data: { a: null } }, { data: { a: "" } }],
    ["Pod", { spec: { overhead: { cpu: null } } }, { spec: { overhead: { cpu: "0" } } }],
    [
      "Pod",
      { spec: { securityContext: { supplementalGroups: [1, null] }, containers: [null] } },
      { spec: { securityContext: { supplementalGroups: [1, 0] }, containers: [{}] } },
    ],
    [
      "Pod",
      {
        spec: {
          containers: [{ restartPolicyRules: [{ exitCodes: { values: [null, 3] } }] }],
        },
      },
      { spec: { containers: [{ restartPolicyRules: [{ exitCodes: { values: [0, 3] } }] }] } },
    ],
  ])("puts the empty value of its type in place of null: %s %j", (type, input, value) => {
    expect(decodeObject(type, input)).toEqual({ value, problems: [] });
  });
  it("shows at most 60 characters of a string, and the types of other values", () => {
    const reasons = ["x".repeat(100), { a: 1 }, [1], false].map(
      (stdin) =>
        decodeObject("Pod", { spec: { containers: [{ stdin: typeof stdin === "boolean" ? 7 : stdin }] } }).problems[0]
          ?.reason,
    );
    expect(reasons).toEqual([
      `must be true or false, not the string "${"x".repeat(60)}"`,
      "must be true or false, not a map",
      "must be true or false, not a list",
      "must be true or false, not the number 7",
    ]);
  });
  it("requires a map where the API has a map of texts", () => {
    expect(decode({ metadata: { labels: ["a"] } }).problems).toEqual([
      "error metadata.labels: must be a map, not a list",
    ]);
  });
  it("treats null as absent, and as the empty value inside lists and maps", () => {
    const input = {
      metadata: { creationTimestamp: null, labels: null, annotations: { a: null } },
      spec: { containers: [null, { name: null, args: [null, "x"] }] },
    };
    expect(decode(input)).toEqual({
      problems: [],
      value: { metadata: { annotations: { a: "" } }, spec: { containers: [{}, { args: ["", "x"] }] } },
    });
  });
  it.each([
    ["a string field", { image: 1 }, "image: must be a string (put it in quotes), not the number 1"],
    ["a boolean", { stdin: "yes" }, 'stdin: must be true or false, not the string "yes"'],
    ["a list", { args: "x" }, 'args: must be a list, not the string "x"'],
    ["a map", { resources: [] }, "resources: must be a map, not a list"],
    [
      "a list's item",
      { command: ["a", true] },
      "command[1]: must be a string (put it in quotes), not the boolean true",
    ],
    [
      "a map's value",
      { resources: { limits: { cpu: "1x" } } },
      'resources.limits[cpu]: must be a quantity such as 100m, 1.5 or 64Mi, not the string "1x"',
    ],
    [
      "a whole number",
      { ports: [{ containerPort: 1.5 }] },
      "ports[0].containerPort: must be a 32-bit integer, not the number 1.5",
    ],
    [
      "a number in range",
      { ports: [{ containerPort: 2 ** 31 }] },
      "ports[0].containerPort: must be a 32-bit integer, not the number 2147483648",
    ],
    [
      "an exact number",
      { securityContext: { runAsUser: 2 ** 60 } },
      "securityContext.runAsUser: must be an integer below 2^53, not the number 1152921504606847000",
    ],
    [
      "a port",
      { livenessProbe: { tcpSocket: { port: true } } },
      "livenessProbe.tcpSocket.port: must be an integer or a string, not the boolean true",
    ],
  ])("requires %s", (_title, container, expected) => {
    expect(ofContainer(container).problems).toEqual([`error spec.containers[0].${expected}`]);
  });
  it.each([
    { ports: [{ containerPort: 2 ** 31 - 1 }] },
    { ports: [{ containerPort: -(2 ** 31) }] },
    { securityContext: { runAsUser: Number.MAX_SAFE_INTEGER } },
    { securityContext: { runAsUser: -Number.MAX_SAFE_INTEGER } },
  ])("accepts the numbers at the bounds: %j", (container) => {
    expect(ofContainer(container).problems).toEqual([]);
  });
  it.each([
    [{ ports: [{ containerPort: -(2 ** 31) - 1 }] }, "ports[0].containerPort: must be a 32-bit integer"],
    [{ securityContext: { runAsUser: 2 ** 53 } }, "securityContext.runAsUser: must be an integer below 2^53"],
  ])("rejects the numbers beyond the bounds: %j", (container, expected) => {
    expect(ofContainer(container).problems).toEqual([expect.stringContaining(expected)]);
  });
  it("requires valid instants", () => {
    expect(decode({ metadata: { creationTimestamp: "2026-02-30T00:00:00Z" } }).problems).toEqual([
      'error metadata.creationTimestamp: must be an RFC 3339 time, not the string "2026-02-30T00:00:00Z"',
    ]);
  });
  it("requires base64 for bytes", () => {
    const { problems, value } = decodeObject("Secret", { data: { good: "aGk=", bad: "!" } });
    expect([value, problems.map((problem) => `${problem.field}: ${problem.reason}`)]).toEqual([
      { data: { good: "aGk=" } },
      ['data[bad]: must be base64 text, not the string "!"'],
    ]);
  });
  it("drops unknown fields with a warning and a suggestion, case-sensitively", () => {
    expect(ofContainer({ name: "c", Image: "x", portz: [], whatever: 1 })).toEqual({
      value: { spec: { containers: [{ name: "c" }] } },
      problems: [
        'warning spec.containers[0].Image: unknown field, ignored; did you mean "image"?',
        'warning spec.containers[0].portz: unknown field, ignored; did you mean "ports"?',
        "warning spec.containers[0].whatever: unknown field, ignored",
      ],
    });
  });
  it("reports all problems at once", () => {
    expect(decode({ kind: 1, metadata: [], spec: { containers: {}, hostNetwork: 0 } }).problems).toHaveLength(4);
  });
  it("treats names of JavaScript's built-in members like any other", () => {
    const input: unknown = JSON.parse(
      '{"__proto__": {"x": 1}, "constructor": 1, "metadata": {"labels": {"__proto__": "l"}}}',
    );
    const { value, problems } = decode(input);
    expect([Object.keys(value.metadata?.labels ?? {}), problems]).toEqual([
      ["__proto__"],
      ["warning __proto__: unknown field, ignored", "warning constructor: unknown field, ignored"],
    ]);
  });
  it("collects at most 100 problems", () => {
    const many = Object.fromEntries(Array.from({ length: 5000 }, (_, index) => [`unknown${index}`, 1]));
    expect(decode(many).problems).toHaveLength(100);
  });
  it.each([[undefined], [null], ["text"], [1], [[]]])("makes an empty object of %j", (input) => {
    expect(decode(input).value).toEqual({});
  });
});
