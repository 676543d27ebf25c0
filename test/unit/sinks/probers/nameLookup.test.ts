import type { LookupFunction } from "node:net";
import { describe, expect, it } from "vitest";
import { createNameLookup } from "../../../../src/sinks/probers/nameLookup.ts";

describe("name look-ups of probes", () => {
  const setUp = () => {
    const asked: { readonly name: string; answer(address: string): void }[] = [];
    const reported: string[] = [];
    const lookup = createNameLookup((name, _options, answer) => {
      asked.push({ name, answer: (address) => answer(null, address, 4) });
    });
    const ask = (name: string, options: Parameters<LookupFunction>[1] = {}): void =>
      lookup(name, options, (error, address) => reported.push(`${name} ${error?.code ?? String(address)}`));
    return { asked, reported, ask, names: () => asked.map(({ name }) => name) };
  };

  it("are four at once, and the others wait in their order", () => {
    const { asked, reported, ask, names } = setUp();
    for (const name of ["a", "b", "c", "d", "e", "f"]) ask(name);
    expect(names()).toEqual(["a", "b", "c", "d"]);
    asked[2]?.answer("1.2.3.4");
    expect([names(), reported]).toEqual([["a", "b", "c", "d", "e"], ["c 1.2.3.4"]]);
  });

  it("are shared by all who ask for the same", () => {
    const { asked, reported, ask, names } = setUp();
    ask("a");
    ask("a");
    ask("a", { family: 6 });
    asked[0]?.answer("1.2.3.4");
    ask("a");
    expect([names(), reported]).toEqual([
      ["a", "a", "a"],
      ["a 1.2.3.4", "a 1.2.3.4"],
    ]);
  });

  it("are refused when 1,024 names wait", async () => {
    const { reported, ask, names } = setUp();
    for (let index = 0; index < 4 + 1_024; index += 1) ask(`${index}`);
    ask("late");
    ask("7");
    await Promise.resolve();
    expect([names().length, reported]).toEqual([4, ["late EAI_AGAIN"]]);
  });
});
