import { expect, it } from "vitest";
import { escapedHtml } from "../../../../src/core/server/html.ts";

it("escapes each character that HTML gives a meaning", () => {
  expect(escapedHtml(`a & <b> "c" 'd' é`)).toBe("a &amp; &lt;b&gt; &#34;c&#34; &#39;d&#39; é");
});
