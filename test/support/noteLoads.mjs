/** Preloaded into a program: appends the URL of each module that it loads to the file RXLET_TEST_LOADS. */
import { appendFileSync } from "node:fs";
import { registerHooks } from "node:module";

const file = process.env.RXLET_TEST_LOADS;
registerHooks({
  load: (url, context, next) => {
    if (file !== undefined) appendFileSync(file, `${url}\n`);
    return next(url, context);
  },
});
