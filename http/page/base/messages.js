// The server's texts in the language of the page. The server writes English; a Chinese page shows
// a translation, or a general sentence where it knows none.

import { language, t } from "./words.js";

/** Translations of whole texts and of patterns; `$1` stands for a group of the pattern. */
const CHINESE = [
  [/unknown variant '(.*?)'/, "没有“$1”这种棋"],
  [/move (\d+).*'(.+?)'.*(?:taken|occupied)/, "第 $1 手 $2：该处已有棋子"],
  [/(\S+) is taken/, "$1 处已有棋子"],
  [/move (\d+)[:,]? '?([^\s':,]+)'?/, "第 $1 手 $2 不合法"],
  [/^fen: /, "FEN 无效"],
  [/board size must be from (\d+) to (\d+)/, "棋盘大小须为 $1 到 $2"],
  [/^result=/, "结果须为 1-0、0-1、1/2-1/2 或 *"],
  [/the game is over/, "对局已结束，无需分析"],
  [/is at work|already/, "已有同名的任务"],
  [/^no worker is connected/, "没有连接的计算节点"],
  [/^(?:the only worker|none of the \d+ workers) connected (?:does not play|plays) (\S+)/, "没有计算节点支持 $1"],
  [/^(?:the only worker|none of the \d+ workers) that plays? (\S+) (?:is being examined|has passed)/, "支持 $1 的计算节点正在校验"],
  [/^(?:the only worker|none of the \d+ workers) that plays? (\S+) gets/, "支持 $1 的计算节点没有任务"],
  [/^nothing is left to search after (\d+) of (\d+) positions/, "已无局面可搜索（$1 / $2）"],
  [/^no tasks of its variants: the job (.*) is of (\S+)/, "任务 $1 是 $2，此节点不支持"],
  [/^no tasks of its variants/, "不支持当前棋种"],
  [/^tasks avoid it/, "任务等待其他节点"],
  [/^no tasks: the job (.*) is paused/, "任务 $1 已暂停"],
  [/^no tasks: no job is running/, "没有进行中的任务"],
  [/^no tasks/, "暂无任务"],
  [/^silent/, "无响应"],
  [/^draining/, "正在退出"],
  [/^on probation/, "观察中"],
  [/^being examined|calibrat/, "校验中"],
  [/quarantine/, "已隔离"],
  [/^not connected/, "未连接"],
  [/worker/, "计算节点"],
];

/** Sentences for the codes of errors. */
const CHINESE_ERRORS = {
  offline: "服务器没有应答，它还在运行吗？",
  bad_request: "输入无效，请检查着法、棋种或 FEN。",
  bad_body: "请求内容无效，请检查各项输入。",
  not_found: "没有找到。",
  not_in_book: "开局库中没有这个局面。",
  conflict: "当前状态下不能执行此操作。",
  forbidden: "此处不允许该操作。",
  no_token: "此服务器需要令牌。",
  unknown_token: "令牌无效：已被撤销，或属于其他服务器。",
  unauthenticated: "令牌无效：已被撤销或更改。",
  role: "此令牌没有该权限。",
  rate: "请求过于频繁，请稍后再试。",
  too_many_failures: "无效令牌的尝试过多，请稍后再试。",
  exhausted: "服务器繁忙，请稍后再试。",
  unavailable: "服务器暂不可用，请稍后再试。",
  too_late: "请求超时，请重试。",
  too_long: "输入过长。",
  damaged_book: "开局库已损坏，或不是完整的文件。",
  wrong_proof: "证书不成立。",
};

/** Faults of the program in this browser, which have a text in each language. */
const HERE_ERRORS = ["no_engine", "no_weights", "no_book", "no_site", "no_certificate", "empty_file", "engine_stopped"];

const REASONS = { "double-three": "三三", "double-four": "四四", overline: "长连" };
const PROOF_KINDS = { terminal: "终局", vcf: "VCF", vct: "VCT", search: "搜索", tree: "证明树", manual: "人工" };

function translate(text) {
  for (const [pattern, chinese] of CHINESE) {
    const found = pattern.exec(text);
    if (found) return chinese.replace(/\$(\d)/g, (_, group) => found[Number(group)] ?? "");
  }
  return null;
}

/** An error in words. `error` has `code` and `message`. */
export function errorText(error) {
  if (error.code === "offline" || HERE_ERRORS.includes(error.code)) return t(error.code);
  if (language() !== "zh") return error.message;
  const isInput = error.code === "bad_request" || error.code === "conflict";
  return (isInput && translate(error.message)) || CHINESE_ERRORS[error.code] || "请求失败。";
}

/** A text of the server, as why a worker is idle; `fallback` is a general sentence. */
export function serverText(text, fallback) {
  if (language() !== "zh") return text;
  return translate(text) ?? fallback;
}

/** Why renju forbids a point. */
export function reasonText(reason) {
  return language() === "zh" ? REASONS[reason] ?? "禁手" : reason;
}

/** The kind of a proof. */
export function proofText(kind) {
  return language() === "zh" ? PROOF_KINDS[kind] ?? "证明" : kind;
}
