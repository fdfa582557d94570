// Writes the public interface of every subpath of the package to docs/api/, from the declarations in dist/. With --check it
// only compares and exits 1 when one is stale, so that no change of the interface goes unseen.
import { Extractor, ExtractorConfig, ExtractorLogLevel } from "@microsoft/api-extractor";
import { mkdirSync, readFileSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { root } from "./command.mjs";

const onlyCheck = process.argv.includes("--check");
const reports = join(root, "docs", "api");
const drafts = join(root, ".build", "api");
const { exports } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
const quiet = { default: { logLevel: ExtractorLogLevel.None } };

mkdirSync(reports, { recursive: true });
const expected = new Set();
/** What `punctual` itself exports; it is the first subpath. */
const importable = new Set();
for (const [subpath, file] of Object.entries(exports)) {
  if (!file.endsWith(".js")) continue;
  const name = subpath === "." ? "punctual" : subpath.slice("./".length).replaceAll("/", "-");
  expected.add(`${name}.api.md`);
  const config = ExtractorConfig.prepare({
    packageJsonFullPath: join(root, "package.json"),
    configObjectFullPath: undefined,
    configObject: {
      projectFolder: root,
      mainEntryPointFilePath: join(root, file.replace(/\.js$/, ".d.ts")),
      compiler: {
        // The extractor brings an older TypeScript of its own; it reads declarations only, so it need not know our options.
        overrideTsconfig: {
          compilerOptions: {
            target: "ES2022",
            lib: ["ES2023", "ESNext.Disposable"],
            module: "NodeNext",
            moduleResolution: "NodeNext",
            types: ["node"],
            strict: true,
            skipLibCheck: true,
          },
          files: [join(root, file.replace(/\.js$/, ".d.ts"))],
        },
      },
      apiReport: {
        enabled: true,
        reportFileName: name,
        reportFolder: reports,
        reportTempFolder: drafts,
      },
      docModel: { enabled: false },
      dtsRollup: { enabled: false },
      tsdocMetadata: { enabled: false },
      messages: {
        compilerMessageReporting: { default: { logLevel: ExtractorLogLevel.Error } },
        extractorMessageReporting: {
          ...quiet,
          "ae-forgotten-export": { logLevel: ExtractorLogLevel.Error },
        },
        tsdocMessageReporting: quiet,
      },
      newlineKind: "lf",
    },
  });
  const result = Extractor.invoke(config, {
    localBuild: !onlyCheck,
    printApiReportDiff: onlyCheck,
    // Whoever uses a subpath can import the types of the contract from `punctual`; what neither exports cannot be named.
    messageCallback(message) {
      const [, forgotten] = /symbol "(\w+)"/.exec(message.text) ?? [];
      const known = message.messageId === "ae-forgotten-export" && importable.has(forgotten);
      if (known || message.messageId === "console-preamble") message.logLevel = ExtractorLogLevel.None;
    },
  });
  if (subpath === ".") {
    const report = readFileSync(join(drafts, `${name}.api.md`), "utf8");
    for (const [, word] of report.matchAll(/^export (?:class|const|function|interface|type) (\w+)/gm))
      importable.add(word);
  }
  if (result.errorCount > 0) {
    console.error(
      `The interface of ${subpath} has the errors above; a type that it needs is exported from src/index.ts.`,
    );
    process.exitCode = 1;
  } else if (onlyCheck && result.apiReportChanged) {
    console.error(
      `docs/api/${name}.api.md does not show the interface of ${subpath}: run \`npm run api\` and commit it.`,
    );
    process.exitCode = 1;
  }
}

for (const file of readdirSync(reports)) {
  if (!file.endsWith(".api.md") || expected.has(file)) continue;
  if (onlyCheck) {
    console.error(`docs/api/${file} belongs to no subpath of package.json.`);
    process.exitCode = 1;
  } else rmSync(join(reports, file));
}
