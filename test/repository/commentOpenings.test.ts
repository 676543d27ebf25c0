import { globSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";

const root = fileURLToPath(new URL("../../", import.meta.url));
const HIDDEN_SUBJECT = /^(What|Who|Whom|Whose|Whoever|Whatever|Of|One|Those|As|That which|Nobody|Nothing|Told)\b/;

/** Words that made readers of earlier versions stop. */
const OWN_WORDS = /\b(told|whom|whoever|wanted no more|of no cluster|as ever)\b/i;
/** Pronouns and prepositions: the subject comes late after them. At most one comment in a hundred may open with one. */
const LATE_SUBJECT =
  /^(It|They|Its|Their|This|That|These|Such|Which|Everything|Something|Somebody|Another|Others|Some|Many|Each of|All of|Both|Either|Neither|By|In|On|For|From|At|With|To|Without|Among|Between|Under|Beside|Besides|Within|Into|Through|Against|About|Over|Outside|Inside|Like|Unlike|Since|Until|During|Before|After|Beyond|Below|Above|Behind|Near|Per)\b/;

/** Returns the first words of each comment block, as `line: words`. */
function openings(text: string): readonly string[] {
  const found: string[] = [];
  let isInside = false;
  for (const [index, line] of text.split("\n").entries()) {
    const isComment = /^\s*(\/\/|\/\*|\*)/.test(line);
    const words = line.replace(/^[\s/*]+/, "").replace(/\s*\*\/$/, "");
    if (isComment && !isInside && words !== "") found.push(`${index + 1}: ${words}`);
    // The first words of a block may be on its second line.
    isInside = isComment && (isInside || words !== "") && !line.includes("*/");
  }
  return found;
}

it("finds the opening of each comment block", () => {
  const text = [
    "/** One */",
    "let a;",
    "/**",
    " * Two",
    " * lines",
    " */",
    "// three",
    "// lines",
    "let b; // no block",
  ];
  expect(openings(text.join("\n"))).toEqual(["1: One", "4: Two", "7: three"]);
});

describe("comments name their subject first, as CONTRIBUTING asks", () => {
  const files = ["src", "test", "bench", "scripts"]
    .flatMap((directory) => globSync(`${directory}/**/*.{ts,tsx}`, { cwd: root }))
    .filter((file) => !file.startsWith("src/gen/"));
  const all = files.flatMap((file) =>
    openings(readFileSync(`${root}${file}`, "utf8")).map((opening) => ({
      words: opening.replace(/^\d+: /, ""),
      place: `${file}:${opening}`,
    })),
  );

  it("never after a word that hides it", () => {
    expect(all.length).toBeGreaterThan(10_000);
    expect(all.filter(({ words }) => HIDDEN_SUBJECT.test(words)).map(({ place }) => place)).toEqual([]);
  });
  it("in all but one of a hundred before pronouns and prepositions", () => {
    const late = all.filter(({ words }) => LATE_SUBJECT.test(words)).map(({ place }) => place);
    expect(late.length > all.length / 100 ? late : []).toEqual([]);
  });
});

it("comments, titles of tests and docs have no words of our own", () => {
  const files = ["{src,test,bench,scripts}/**/*.{ts,tsx}", "docs/**/*.md", "README.md"].flatMap((pattern) =>
    globSync(pattern, { cwd: root }),
  );
  const isProse = /^\s*(\/\/|\/\*|\*)|\b(it|test|describe)(\.each)?\(|^\s*\]\)\(/;
  const dialect = files
    .filter((file) => !file.startsWith("src/gen/") && !file.endsWith("commentOpenings.test.ts"))
    .flatMap((file) => {
      const lines = readFileSync(`${root}${file}`, "utf8").split("\n");
      const prose = file.endsWith(".md") ? lines : lines.filter((line) => isProse.test(line));
      return prose.filter((line) => OWN_WORDS.test(line)).map((line) => `${file}: ${line.trim()}`);
    });
  expect(dialect).toEqual([]);
});
