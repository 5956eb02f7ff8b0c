// Sums up a git history: commits by author and month, and the files that change
// most. However long the log is, the model reads the sums only.
// Tools: bash; the settings file allows the two commands, so that nobody is asked.
//
//   runcode run --tools shell --config examples/data/git-history.settings.json examples/scripts/git-history.ts

const { dir, max = 5_000 }: { dir?: string; max?: number } = typeof input === "undefined" ? {} : input;
const git = (command: string) => tools.bash({ command: `git ${command}`, workdir: dir, description: "Read the git history" });

// A command that fails is a value, not an exception.
const head = await git("rev-parse --verify HEAD");
if (head.exitCode !== 0) return `there is no history to sum up: ${head.stderr.trim()}`;

// Fields end with a NUL, which no name, subject or path can hold. An empty field
// begins a commit, its files follow.
const log = "log -z --numstat --no-renames --no-show-signature --date=format:%Y-%m --format=%x00%aN%x00%ad%x00%s";
const commits: { author: string; month: string; subject: string }[] = [];
const changes: { path: string; lines: number }[] = [];
for (let page = 500, more = true; more && commits.length < max; ) {
  const asked = Math.min(page, max - commits.length);
  const out = await git(`${log} --skip=${commits.length} --max-count=${asked} ${head.stdout.trim()}`);
  if (out.exitCode !== 0) throw new Error(`git log ended with ${out.exitCode}: ${out.stderr.trim()}`);
  if (out.truncated && asked > 1) {
    page = Math.ceil(asked / 2); // what is cut cannot be counted: ask for less at a time
    continue;
  }
  const fields = out.stdout.split("\0");
  const before = commits.length;
  for (let i = 0; i < fields.length - 1; i++) {
    const file = /^\n?(\d+|-)\t(\d+|-)\t(.+)$/s.exec(fields[i]); // added, removed ("-": binary), path
    if (file && !out.truncated) changes.push({ path: file[3], lines: (Number(file[1]) || 0) + (Number(file[2]) || 0) });
    if (fields[i] === "") commits.push({ author: fields[++i], month: fields[++i], subject: fields[++i] });
  }
  if (out.truncated) console.log(`not counted: the files of "${commits.at(-1)?.subject}", which are too many`);
  more = commits.length === before + asked;
}

const tally = (list: string[]) => Object.fromEntries([...Map.groupBy(list, (x) => x)].map(([x, same]) => [x, same.length]));
const authors = [...Map.groupBy(commits, ({ author }) => author)].map(([author, own]) => {
  return { author, commits: own.length, months: tally(own.map(({ month }) => month)), latest: own[0].subject };
});
const files = [...Map.groupBy(changes, ({ path }) => path)].map(([path, all]) => {
  return { path, commits: all.length, lines: all.reduce((sum, { lines }) => sum + lines, 0) };
});
authors.sort((a, b) => b.commits - a.commits);
files.sort((a, b) => b.commits - a.commits || b.lines - a.lines);
return { commits: commits.length, authors, files: files.slice(0, 10) };
