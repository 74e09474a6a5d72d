// Every text of the page, in English and in Chinese.

import { recall, remember } from "./element.js";

const EN = {
  title: "Kagetsu", explorer: "Explorer", cluster: "Cluster", book: "Book", analysis: "Analysis",
  language: "中文", languageLabel: "切换到中文", theme: "Theme", themeAuto: "Theme: as the system",
  themeLight: "Theme: light", themeDark: "Theme: dark", help: "Keys", close: "Close",
  positions: "{n} positions", noBook: "no book", offline: "The server does not answer. Is it still running?",
  skip: "Skip to the board", variant: "Game", start: "Start", back: "Back", forward: "Forward", end: "End",
  copy: "Copy link", copied: "Link copied", flip: "Turn the board", numbers: "Move numbers", type: "Type moves or a FEN",
  typeHint: "h8 i9 h9", typeHintXiangqi: "h2e2 h9g7, or a FEN", typeHintSurakarta: "a2a3 b5b4, or a FEN", play: "Play", line: "Moves", lineEmpty: "No moves yet. Click the board or type.",
  first: "Black", second: "White", firstXiangqi: "Red", secondXiangqi: "Black", firstSurakarta: "Black", secondSurakarta: "White",
  toMove: "{side} to move", wins: "{side} has won", drawn: "The game is drawn",
  notInBook: "The book does not hold this position.", notInBookHint: "Go back, or ask for an analysis.",
  best: "Best {move}", inDoubt: "In doubt: {moves} may be better; the book has only an upper bound of them.",
  winIn: "wins in {n}", lossIn: "loses in {n}", drawProven: "drawn", proven: "proven by {kind}",
  mark_win: "W{n}", mark_loss: "L{n}", mark_draw: "D",
  move: "Move", value: "Value", bound: "Bound", depth: "Depth", nodes: "Nodes", engine: "Engine", date: "Date", next: "Expected play",
  exact: "exact", lower: "at least", upper: "at most", showAll: "Show all {n} moves", showFew: "Show fewer", bounded: "{n} moves with only an upper bound", bounded1: "1 move with only an upper bound",
  badLink: "The link cannot be opened: {reason}", dismiss: "Dismiss",
  inBook: "leads on in the book", sameAs: "same position as {moves}",
  ways: "Other ways here", waysNone: "No other order of moves leads here through the book.", via: "via {line}",
  analyze: "Analyse", stop: "Stop", effort: "How long", seconds: "{n} s", minutes: "{n} min",
  thinking: "Thinking", done: "Done", stopped: "Stopped", waiting: "Waiting for a worker…", workers: "{n} workers", worker: "1 worker",
  analysisIdle: "The cluster analyses this position; the answer deepens as you watch.",
  analysisReadonly: "This server only reads its book.", analysisForbidden: "You may read here, not start anything.",
  deepened: "How it deepened", noWorkers: "No worker is connected: start kagetsu-worker.",
  jobs: "Builds", noJobs: "No builds yet.", running: "running", paused: "paused", doneState: "done", cancelled: "cancelled", failed: "failed", unknown: "unknown",
  pause: "Pause", resume: "Resume", cancel: "Cancel", reallyCancel: "Cancel the build {name}? The book keeps what it has.",
  cancelBuild: "Cancel the build", keep: "Keep it", rate: "{n}/s", left: "{t} left", frontier: "{n} waiting", setAside: "{n} set aside",
  ofTarget: "{n} of {m}", noEnd: "{n}, no end set", plot: "Positions over time, from {from} to {to}", plotEmpty: "The plot fills as the build goes on.",
  newJob: "Start a build", name: "Name", roots: "Begins after", wantPositions: "Positions to add", searchDepth: "Depth of each search",
  aim: "What for", "aim_drop-out": "Grow it widely", "aim_one-side": "A repertoire for one side", aim_prove: "Prove a win", aim_deepen: "Deepen what is there",
  "aimHint_drop-out": "The positions nearest to where it begins come first; a worse move counts as farther away (drop-out).",
  "aimHint_one-side": "Of that side only the best move is followed, of the other all that lose little (one-side).",
  aimHint_prove: "The position that helps most to prove that this side wins, until it is proven (prove).",
  aimHint_deepen: "Adds nothing: searches anew what was searched less deeply, the nearest first (deepen).",
  side: "Side", threatNodes: "Nodes of each threat search", searchedBefore: "And what was searched before", moreKnobs: "More",
  alpha: "Plies that a lost 1.00 weighs", margin: "Most that a move may lose", marginHint: "as 0.50", noise: "Noise, in plies", maxPly: "Plies beyond the beginning, at most",
  cover: "Must be in it (lines)", exclude: "Never enter (lines)", setUp: "Set-up (FEN)", totalNodes: "Ends after nodes in all", untilStable: "Ends after positions without change", priority: "Priority",
  ofNodes: "{n} of {m} nodes", endsStable: "ends after {n} without change", hasPriority: "priority {n}", waitsFor: "Waits for {what}.",
  topMoves: "Moves followed", startJob: "Start", workersTitle: "Workers", noWorkersTitle: "No worker is connected.",
  noWorkersHint: "kagetsu-worker --coordinator URL", slots: "Tasks", doneTasks: "Done", speed: "Speed", state: "State", busy: "at work",
  perSecond: "{n}/s", bookSize: "In the book", totalSpeed: "Nodes a second", runningJobs: "Builds running",
  notCluster: "This server only reads its book. Builds and workers belong to a coordinator: kagetsu-coordinator --book DIR.", readOnly: "read-only",
  token: "Token", tokenHint: "This server wants a token.", tokenMore: "A token may let you do more here.", tokenSet: "Use it", over: "over",
  keys: [["← →, wheel", "back, forward"], ["Home End", "start, end of the line"], ["b", "play the best move"], ["1 … 9", "play that move of the list"], ["a", "analyse, stop"], ["/", "type moves"], ["n", "move numbers"], ["f", "turn the board"], ["Tab, arrows, Enter", "on the board: move the cursor and play"], ["?", "these keys"]],
  pointEmpty: "{point}, empty", pointForbidden: "{point}, forbidden: {reason}", pointPiece: "{point}, {piece}", selected: "{point} chosen",
  boardLabel: "Board. Arrow keys walk, Enter plays.", bookSays: "book: {value}",
  piece_K: "red general", piece_A: "red advisor", piece_B: "red elephant", piece_N: "red horse", piece_R: "red chariot", piece_C: "red cannon", piece_P: "red soldier",
  piece_k: "black general", piece_a: "black advisor", piece_b: "black elephant", piece_n: "black horse", piece_r: "black chariot", piece_c: "black cannon", piece_p: "black soldier",
  piece_X: "black stone", piece_O: "white stone", piece_first: "black piece", piece_second: "white piece",
};

const ZH = {
  title: "花月", explorer: "局面浏览", cluster: "集群", book: "开局库", analysis: "分析",
  language: "English", languageLabel: "Switch to English", theme: "主题", themeAuto: "主题：跟随系统",
  themeLight: "主题：浅色", themeDark: "主题：深色", help: "快捷键", close: "关闭",
  positions: "{n} 个局面", noBook: "无开局库", offline: "服务器没有应答，它还在运行吗？",
  skip: "跳到棋盘", variant: "棋种", start: "开局", back: "后退", forward: "前进", end: "末尾",
  copy: "复制链接", copied: "链接已复制", flip: "翻转棋盘", numbers: "显示手数", type: "输入着法或 FEN",
  typeHint: "h8 i9 h9", typeHintXiangqi: "h2e2 h9g7，或 FEN", typeHintSurakarta: "a2a3 b5b4，或 FEN", play: "走棋", line: "着法", lineEmpty: "尚无着法。点击棋盘或输入着法。",
  first: "黑方", second: "白方", firstXiangqi: "红方", secondXiangqi: "黑方", firstSurakarta: "黑方", secondSurakarta: "白方",
  toMove: "{side}走棋", wins: "{side}胜", drawn: "和棋",
  notInBook: "开局库中没有这个局面。", notInBookHint: "请后退，或请求分析。",
  best: "最佳 {move}", inDoubt: "存疑：{moves} 可能更好，库中只有上界。",
  winIn: "{n} 步胜", lossIn: "{n} 步负", drawProven: "和棋", proven: "由 {kind} 证明",
  mark_win: "胜{n}", mark_loss: "负{n}", mark_draw: "和",
  move: "着法", value: "评分", bound: "界", depth: "深度", nodes: "节点", engine: "引擎", date: "日期", next: "预期变化",
  exact: "准确", lower: "至少", upper: "至多", showAll: "显示全部 {n} 着", showFew: "收起", bounded: "另有 {n} 着只有上界", bounded1: "另有 1 着只有上界",
  badLink: "无法打开链接：{reason}", dismiss: "关闭提示",
  inBook: "库中有后续", sameAs: "与 {moves} 局面相同",
  ways: "其他到达次序", waysNone: "库中没有其他次序到达此局面。", via: "经 {line}",
  analyze: "分析", stop: "停止", effort: "时长", seconds: "{n} 秒", minutes: "{n} 分钟",
  thinking: "思考中", done: "完成", stopped: "已停止", waiting: "等待计算节点…", workers: "{n} 个计算节点", worker: "1 个计算节点",
  analysisIdle: "由集群思考这个局面，可以看着它逐步加深。",
  analysisReadonly: "此服务器只读取开局库。", analysisForbidden: "您在此只能浏览，不能启动任务。",
  deepened: "加深过程", noWorkers: "没有连接的计算节点：请启动 kagetsu-worker。",
  jobs: "建库任务", noJobs: "还没有建库任务。", running: "进行中", paused: "已暂停", doneState: "已完成", cancelled: "已取消", failed: "失败", unknown: "未知",
  pause: "暂停", resume: "继续", cancel: "取消", reallyCancel: "取消任务 {name}？已得到的结果会保留在库中。",
  cancelBuild: "取消任务", keep: "保留", rate: "{n}/秒", left: "剩余 {t}", frontier: "{n} 个等待", setAside: "{n} 个搁置",
  ofTarget: "{n} / {m}", noEnd: "{n}，无上限", plot: "局面数随时间变化，{from} 至 {to}", plotEmpty: "任务进行时会画出曲线。",
  newJob: "新建任务", name: "名称", roots: "起始着法", wantPositions: "增加局面数", searchDepth: "每次搜索深度",
  aim: "目的", "aim_drop-out": "全面扩展", "aim_one-side": "单方开局库", aim_prove: "证明必胜", aim_deepen: "加深已有局面",
  "aimHint_drop-out": "离起点最近的局面优先；较差的着法视为更远（drop-out）。",
  "aimHint_one-side": "该方只跟踪最佳着，对方跟踪损失不大的所有着（one-side）。",
  aimHint_prove: "最有助于证明该方必胜的局面优先，直到证出（prove）。",
  aimHint_deepen: "不增加局面：重新搜索深度不足者，近者优先（deepen）。",
  side: "一方", threatNodes: "每次威胁搜索的节点数", searchedBefore: "以及此日之前搜索的", moreKnobs: "更多",
  alpha: "损失 1.00 折合步数", margin: "着法最多损失", marginHint: "如 0.50", noise: "随机扰动（步）", maxPly: "起点之后最多步数",
  cover: "必须包含（着法）", exclude: "不得进入（着法）", setUp: "初始局面（FEN）", totalNodes: "总节点数上限", untilStable: "连续多少局面无变化即止", priority: "优先级",
  ofNodes: "{n} / {m} 节点", endsStable: "{n} 个局面无变化即止", hasPriority: "优先级 {n}", waitsFor: "等待：{what}。",
  topMoves: "跟踪着法数", startJob: "开始", workersTitle: "计算节点", noWorkersTitle: "没有连接的计算节点。",
  noWorkersHint: "kagetsu-worker --coordinator URL", slots: "任务", doneTasks: "已完成", speed: "速度", state: "状态", busy: "工作中",
  perSecond: "{n}/秒", bookSize: "库中局面", totalSpeed: "每秒节点", runningJobs: "进行中的任务",
  notCluster: "此服务器只读取开局库。建库任务与计算节点属于协调器：kagetsu-coordinator --book DIR。", anyJobFailed: "任务失败；kagetsu jobs show 可查看原因。", anyWait: "计算节点", anyIdle: "空闲", anyAside: "搜索失败", readOnly: "只读",
  token: "令牌", tokenHint: "此服务器需要令牌。", tokenMore: "使用令牌或可获得更多权限。", tokenSet: "使用", over: "终局",
  keys: [["← →、滚轮", "后退、前进"], ["Home End", "开局、末尾"], ["b", "走最佳着"], ["1 … 9", "走列表中的第几着"], ["a", "分析、停止"], ["/", "输入着法"], ["n", "显示手数"], ["f", "翻转棋盘"], ["Tab、方向键、Enter", "在棋盘上移动并落子"], ["?", "快捷键"]],
  pointEmpty: "{point}，空", pointForbidden: "{point}，禁手：{reason}", pointPiece: "{point}，{piece}", selected: "已选 {point}",
  boardLabel: "棋盘。方向键移动，Enter 落子。", bookSays: "库：{value}",
  piece_K: "红帅", piece_A: "红仕", piece_B: "红相", piece_N: "红马", piece_R: "红车", piece_C: "红炮", piece_P: "红兵",
  piece_k: "黑将", piece_a: "黑士", piece_b: "黑象", piece_n: "黑马", piece_r: "黑车", piece_c: "黑炮", piece_p: "黑卒",
  piece_X: "黑子", piece_O: "白子", piece_first: "黑子", piece_second: "白子",
};

const ALL = { en: EN, zh: ZH };
let chosen = recall("language") ?? ((navigator.language ?? "").startsWith("zh") ? "zh" : "en");

export function language() {
  return chosen in ALL ? chosen : "en";
}

export function choose(name) {
  chosen = name;
  remember("language", name);
}

/** The text of a name, with `{n}` and the like filled in. */
export function t(name, values = {}) {
  const words = ALL[language()][name] ?? EN[name] ?? name;
  if (typeof words !== "string") return words;
  return words.replace(/\{(\w+)\}/g, (_, key) => values[key] ?? "");
}

export function number(value) {
  return new Intl.NumberFormat(language() === "zh" ? "zh-CN" : "en").format(value);
}

/** A number in few characters: 51,234 as 51.2k. */
export function short(value) {
  if (value < 1000) return String(Math.round(value));
  for (const [unit, size] of [["G", 1e9], ["M", 1e6], ["k", 1e3]]) {
    if (value >= size) return `${(value / size).toFixed(value >= 100 * size ? 0 : 1)}${unit}`;
  }
  return String(value);
}

/** Seconds as 1 h 20 min. */
export function duration(seconds) {
  const units = language() === "zh" ? ["天", "小时", "分", "秒"] : ["d", "h", "min", "s"];
  const sizes = [86400, 3600, 60, 1];
  const at = Math.max(0, sizes.findIndex((size) => seconds >= size));
  const whole = Math.floor(seconds / sizes[at]);
  const rest = at < 3 ? Math.floor((seconds % sizes[at]) / sizes[at + 1]) : 0;
  return rest > 0 ? `${whole} ${units[at]} ${rest} ${units[at + 1]}` : `${whole} ${units[at]}`;
}
