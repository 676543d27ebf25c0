/** Writes docs/live.svg: the live view of a run of the examples, for the README. */
import { readFile, writeFile } from "node:fs/promises";
import { drawRun } from "./drawRun.ts";
import { recordRun } from "./recordRun.ts";
import { ARRIVALS, isTold } from "./story.ts";
import { themeColours } from "./svgDocument.ts";

const ROOT = new URL("../../", import.meta.url);
const PICTURE = new URL("docs/live.svg", ROOT);
const STYLE = new URL("src/livePage/styles/1-base.css", ROOT);

console.log("Running the examples for half a minute...");
const picture = drawRun(await recordRun(ARRIVALS, isTold), themeColours(await readFile(STYLE, "utf8")));
await writeFile(PICTURE, picture);
console.log(`docs/live.svg: ${picture.length} characters. Look at it in both themes before you commit it.`);
