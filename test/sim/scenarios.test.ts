/**
 * docs/simulation.md matches the code: every example runs and prints the shown output, and all flags, faults and
 * letters are listed.
 */
import { readFileSync } from "node:fs";
import { describe, expect, it, vi } from "vitest";
import { STATE_LETTERS } from "rxlet/sim";
import { SIMULATE_FLAGS } from "../../src/cli/simulateFlags.ts";
import { FAULT_KINDS } from "../../src/sim/faults/faultKinds.ts";

const EXAMPLES = [
  "crashLoop",
  "rollingEdit",
  "wedgedContainer",
  "crashInSandboxCreation",
  "nodeReboot",
  "failingServer",
  "randomFaults",
];

const textOf = (path: string): string => readFileSync(new URL(path, import.meta.url), "utf8");
const page = textOf("../../docs/simulation.md");
/** Rows of all tables, with repeated blanks collapsed. */
const rows = page
  .split("\n")
  .filter((line) => line.startsWith("|"))
  .map((line) => line.replace(/ +/g, " "));

describe("docs/simulation.md", () => {
  it.each(EXAMPLES)("shows the code and the output of %s, whose expectations hold", async (name) => {
    const log = vi.spyOn(console, "log").mockImplementation(() => undefined);
    await import(`./scenarios/${name}.ts`);
    const printed = log.mock.calls.map((words) => words.join(" ")).join("\n");
    log.mockRestore();
    const shown = `\`\`\`ts\n${textOf(`scenarios/${name}.ts`)}\`\`\`\n\n\`\`\`\n${printed}\n\`\`\`\n`;
    // Compares only the section of the example, for a short failure message.
    const at = page.indexOf(textOf(`scenarios/${name}.ts`)) - "```ts\n".length;
    expect(page.slice(at, at + shown.length)).toBe(shown);
  });

  it("lists the flags of rxlet simulate", () => {
    const expected = SIMULATE_FLAGS.map(
      ({ name, about, default: value }) => `| \`--${name}\` | ${value === "" ? "" : `\`${value}\` `}| ${about} |`,
    );
    expect(rows).toEqual(expect.arrayContaining(expected));
  });

  it("lists the faults", () => {
    const expected = Object.entries(FAULT_KINDS).map(([kind, { per, about }]) => `| \`${kind}\` | ${per} | ${about} |`);
    expect(rows).toEqual(expect.arrayContaining(expected));
  });

  it("lists the letters of timelines", () => {
    const expected = Object.entries(STATE_LETTERS).map(([letter, about]) => `| \`${letter}\` | ${about} |`);
    expect(rows).toEqual(expect.arrayContaining(expected));
  });
});
