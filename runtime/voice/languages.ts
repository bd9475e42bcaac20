/** What people say in a conversation beside what they mean. All in small letters, without marks. */
interface SpokenLanguage {
  /** What somebody says who listens: no reason to fall silent. */
  readonly listening: ReadonlySet<string>;
  /** What somebody says who wants silence and no answer. */
  readonly stop: ReadonlySet<string>;
  /** After these words more is to come; absent where none tell, as in languages that put them first. */
  readonly unfinished: ReadonlySet<string>;
  /** Said while a tool is asked, in place of silence. */
  readonly filler: string;
}

const NONE: ReadonlySet<string> = new Set();

/** Phrases that commas part, and words that spaces part. */
const defineLanguage = (listening: string, stop: string, unfinished: string, filler: string): SpokenLanguage => ({
  listening: new Set(listening.split(', ')),
  stop: new Set(stop.split(', ')),
  unfinished: unfinished === '' ? NONE : new Set(unfinished.split(' ')),
  filler,
});

/** Languages that write no spaces between words: phrases may stand right behind each other. */
const UNSPACED: ReadonlySet<string> = new Set(['ja', 'zh', 'yue']);

const CHINESE = defineLanguage(
  '嗯, 嗯嗯, 哦, 噢, 喔, 啊, 对, 对对, 是, 是的, 是啊, 好, 好的, 好啊, 行, 可以, 没错, 当然, 真的, 真的吗, 明白, 明白了, 知道了, 懂了, 了解, 原来如此, 對, 沒錯, 當然, 知道, 真的嗎',
  '停, 停下, 停下来, 停止, 停一下, 别说了, 不要说了, 安静, 闭嘴, 够了, 算了, 取消, 暂停, 等一下, 停下來, 別說了, 安靜, 閉嘴, 夠了, 暫停',
  '',
  '请稍等。',
);

/** By ISO 639-1, as Whisper names them. English lacks `unfinished`: `completeness.ts` knows more of it. */
const LANGUAGES: Readonly<Record<string, SpokenLanguage>> = {
  en: defineLanguage(
    'uh huh, uhhuh, uh, huh, mm, mmm, mhm, mm hmm, mmhmm, hm, hmm, hmmm, um, ah, aha, oh, ooh, er, yeah, yes, yep, yup, ok, okay, right, sure, i see, got it, really, wow, cool, nice, great, good, true',
    "stop, stop it, stop that, stop talking, please stop, stop please, be quiet, quiet, silence, shut up, hush, enough, that is enough, that's enough, cancel, never mind, nevermind, pause, ok stop, okay stop, no stop",
    '',
    'One moment, please.',
  ),
  de: defineLanguage(
    'hm, hmm, mhm, mm, äh, ähm, öh, ah, aha, ach, ach so, achso, oh, ja, jaja, jo, jawohl, okay, ok, gut, na gut, genau, stimmt, klar, alles klar, richtig, verstehe, ich verstehe, verstanden, wirklich, echt, toll, super, schön, prima, eben, sicher, natürlich',
    'stopp, stop, halt, halt mal, hör auf, hör bitte auf, aufhören, bitte aufhören, sei still, sei ruhig, sei leise, ruhe, ruhe bitte, still, leise, schluss, es reicht, das reicht, genug, abbrechen, abbruch, pause, lass gut sein, vergiss es, schon gut, warte, moment',
    'und aber oder denn weil obwohl während wenn falls bis bevor nachdem dass ob als sondern der die das den dem des ein eine einen einem einer eines mein meine meinen dein deine sein seine ihr ihre unser unsere dieser diese dieses kein keine mit ohne für gegen durch um aus bei nach seit von zu vor über unter zwischen im ins am ans zum zur beim vom in auf ich du er sie es wir ist sind war waren bin habe hat haben kann könnte will würde soll muss möchte sehr also äh ähm',
    'Einen Moment, bitte.',
  ),
  fr: defineLanguage(
    "hm, hmm, mm, mmh, mhm, euh, ah, ah bon, ah oui, ah d'accord, oh, bah, ben, oui, ouais, ouai, ok, okay, d'accord, bien, très bien, bon, bien sûr, exact, exactement, c'est ça, c'est vrai, vraiment, je vois, je comprends, compris, entendu, super, génial, voilà, tout à fait, en effet",
    "stop, arrête, arrêtez, arrête toi, arrêtez vous, arrête ça, tais toi, taisez vous, silence, chut, assez, ça suffit, c'est bon, c'est assez, annule, annulez, pause, laisse tomber, laissez tomber, attends, attendez",
    "et mais ou car donc parce que quand lorsque si comme pendant avant après jusqu'à le la les un une des du de à au aux en dans sur sous avec sans pour par chez vers entre mon ma mes ton ta tes son sa ses notre nos votre vos leur leurs ce cet cette ces je tu il elle on nous vous ils elles est sont était ai as a avons avez ont peut veux voudrais qui dont où très euh",
    'Un instant, s’il vous plaît.',
  ),
  es: defineLanguage(
    'hm, hmm, mm, mhm, ajá, eh, ah, oh, ay, sí, si, sí sí, claro, claro que sí, vale, ok, okay, bien, muy bien, bueno, de acuerdo, entiendo, ya, ya veo, ya entiendo, exacto, exactamente, correcto, cierto, verdad, de verdad, en serio, genial, perfecto, por supuesto, entendido, así es',
    'para, pare, alto, detente, deténgase, basta, ya basta, cállate, cállese, silencio, calla, ya está, suficiente, es suficiente, cancela, cancelar, pausa, espera, espere, olvídalo, déjalo, stop',
    'y e pero o u porque aunque mientras cuando si hasta antes después que como el la los las un una unos unas de del a al en con sin para por sobre entre desde hacia mi mis tu tus su sus nuestro nuestra este esta estos estas ese esa yo tú él ella nosotros ellos es son era está están soy estoy he ha han puede quiero quisiera debe muy eh pues',
    'Un momento, por favor.',
  ),
  it: defineLanguage(
    "hm, hmm, mm, mhm, eh, ah, ah sì, oh, ehm, sì, si, già, ok, okay, va bene, bene, certo, certamente, giusto, esatto, esattamente, capito, ho capito, capisco, vedo, davvero, vero, è vero, bello, ottimo, perfetto, d'accordo, infatti, appunto",
    'stop, ferma, fermati, si fermi, fermo, basta, basta così, zitto, zitta, stai zitto, silenzio, smettila, smetti, la smetta, annulla, pausa, lascia stare, lascia perdere, aspetta, aspetti, alt',
    'e ed ma o oppure perché anche mentre quando se finché prima dopo che come il lo la i gli le un uno una di del della dei delle a al alla in nel nella con senza per su sul sulla tra fra da dal dalla mio mia miei tuo tua suo sua nostro nostra questo questa questi quello quella io tu lui lei noi voi loro è sono era ho hai ha abbiamo hanno può voglio vorrei deve molto ehm',
    'Un momento, per favore.',
  ),
  pt: defineLanguage(
    'hm, hmm, mm, mhm, ahã, aham, uhum, é, ah, ah é, oh, sim, claro, ok, okay, tá, tá bom, tá certo, está bem, está bom, certo, bem, bom, muito bem, exato, exatamente, isso, isso mesmo, entendi, entendo, percebo, verdade, é verdade, sério, a sério, legal, ótimo, perfeito, pois, pois é, com certeza, beleza',
    'pare, para, para com isso, pára, chega, já chega, basta, cala a boca, cale se, cala te, silêncio, quieto, cancela, cancelar, pausa, espera, espere, deixa, deixa pra lá, esquece, stop',
    'e mas ou porque embora enquanto quando se até antes depois que como o a os as um uma uns umas de do da dos das em no na nos nas com sem para pra por pelo pela sobre entre desde meu minha teu tua seu sua nosso nossa este esta esse essa eu tu ele ela você nós vocês eles é são era está estão tenho tem pode quero queria deve muito então',
    'Um momento, por favor.',
  ),
  nl: defineLanguage(
    'hm, hmm, mm, mhm, eh, uh, ah, aha, oh, o, ja, jaja, jawel, oké, ok, okay, goed, prima, precies, juist, klopt, dat klopt, zeker, natuurlijk, echt, echt waar, ik snap het, ik begrijp het, snap ik, begrepen, duidelijk, mooi, leuk, fijn, inderdaad',
    'stop, stop maar, hou op, houd op, ophouden, genoeg, dat is genoeg, stil, wees stil, stilte, zwijg, hou je mond, kappen, annuleer, annuleren, pauze, laat maar, wacht, wacht even',
    'en maar of want omdat hoewel terwijl wanneer als tot voordat nadat dat dan de het een van in op aan met zonder voor tegen door om uit bij naar sinds over onder tussen mijn jouw zijn haar ons onze hun deze dit die ik jij je hij zij we wij jullie is was waren ben heb heeft hebben kan kun wil zou moet heel dus eh',
    'Een ogenblik, alstublieft.',
  ),
  pl: defineLanguage(
    'hm, hmm, mm, mhm, yhm, aha, ah, och, o, no, no tak, tak, tak tak, jasne, ok, okej, okay, dobrze, dobra, dobry, racja, właśnie, dokładnie, zgadza się, rozumiem, oczywiście, pewnie, naprawdę, serio, super, świetnie, prawda, no dobrze, fajnie',
    'stop, stój, przestań, przestań proszę, proszę przestań, dość, dosyć, wystarczy, cisza, cicho, bądź cicho, ucisz się, zamknij się, anuluj, pauza, nieważne, zostaw to, poczekaj, czekaj',
    'i a ale lub albo bo ponieważ chociaż podczas kiedy gdy jeśli jeżeli aż zanim że żeby który która które w we z ze na do od po za przed pod nad między dla bez przez o u przy mój moja moje twój twoja jego jej nasz nasza ten ta to te ja ty on ona my wy oni jest są był była było mam ma mogę może chcę chciałbym muszę bardzo więc',
    'Chwileczkę, proszę.',
  ),
  sv: defineLanguage(
    'hm, hmm, mm, mhm, eh, ah, aha, jaha, oj, åh, ja, jo, japp, okej, ok, bra, precis, exakt, just det, visst, självklart, jag förstår, förstår, jaså, verkligen, sant, fint, toppen',
    'stopp, stop, sluta, sluta nu, sluta prata, tyst, var tyst, tystnad, håll tyst, håll käften, nog, det räcker, avbryt, paus, glöm det, strunt i det, vänta',
    'och men eller för att eftersom medan när om tills innan efter som en ett den det de i på av med utan till från över under mellan min mitt mina din ditt hans hennes vår vårt jag du han hon vi ni är var har hade kan vill skulle ska måste mycket så',
    'Ett ögonblick, tack.',
  ),
  ru: defineLanguage(
    'хм, гм, мм, м, мгм, угу, ага, э, а, ах, о, ой, да, да да, ну да, ок, окей, хорошо, ладно, ясно, понятно, понял, поняла, понимаю, точно, верно, правильно, конечно, разумеется, правда, серьёзно, серьезно, круто, здорово, отлично',
    'стоп, стой, остановись, остановитесь, хватит, достаточно, довольно, замолчи, замолчите, молчи, тихо, тише, тишина, заткнись, отмена, отмени, пауза, подожди, подождите, не надо, забудь, прекрати',
    'и а но или потому что хотя пока когда если чтобы до после который которая которые в во на с со к ко от из у о об по за под над перед между для без через мой моя моё твой его её наш этот эта это эти я ты он она мы вы они был была было есть могу может хочу очень',
    'Одну минуту, пожалуйста.',
  ),
  uk: defineLanguage(
    'хм, гм, мм, мгм, угу, ага, е, а, ох, о, ой, так, так так, ок, окей, добре, гаразд, ясно, зрозуміло, зрозумів, зрозуміла, розумію, точно, вірно, правильно, звичайно, звісно, правда, справді, круто, чудово',
    'стоп, стій, зупинись, зупиніться, досить, годі, вистачить, замовкни, мовчи, тихо, тихіше, тиша, скасувати, скасуй, пауза, зачекай, зачекайте, не треба, забудь, припини',
    'і й та а але або бо тому що хоча поки коли якщо щоб до після який яка які в у на з із зі до від о об про по за під над перед між для без через мій моя моє твій його її наш цей ця це ці я ти він вона ми ви вони був була було є можу може хочу дуже',
    'Хвилинку, будь ласка.',
  ),
  cs: defineLanguage(
    'hm, hmm, mm, mhm, eh, ah, aha, jo, jojo, no, no jo, ano, ok, okej, dobře, dobrá, jasně, přesně, správně, rozumím, chápu, samozřejmě, určitě, opravdu, vážně, super, skvělé, pravda',
    'stop, stůj, přestaň, přestaňte, dost, to stačí, stačí, ticho, buď zticha, zmlkni, mlč, zruš, zrušit, pauza, nech to, nech toho, počkej, počkejte',
    'a i ale nebo protože ačkoli zatímco když jestli pokud až než že aby který která které v ve na s se z ze do od po za před pod nad mezi pro bez přes o u při k ke můj moje tvůj jeho její náš ten ta to já ty on ona my vy oni je jsou byl byla bylo mám má mohu může chci velmi tedy',
    'Okamžik, prosím.',
  ),
  tr: defineLanguage(
    'hm, hmm, hı hı, hıhı, mm, ı, e, a, aa, ah, ha, haa, oh, evet, tamam, peki, olur, iyi, güzel, doğru, aynen, anladım, anlıyorum, tabii, tabi, elbette, gerçekten, gerçekten mi, öyle mi, harika, süper, he',
    'dur, durun, dur lütfen, lütfen dur, yeter, yeterli, bu kadar yeter, sus, susun, sessiz ol, sessizlik, kes, kes şunu, iptal, iptal et, duraklat, bekle, boş ver, vazgeç, stop',
    've ama fakat veya ya da çünkü eğer ile için gibi kadar bir bu şu o çok ben sen biz siz onlar benim senin onun bizim ki',
    'Bir dakika, lütfen.',
  ),
  ko: defineLanguage(
    '음, 흠, 아, 아하, 오, 어, 네, 네네, 예, 응, 응응, 그래, 그래요, 그렇군요, 그렇구나, 그렇죠, 맞아, 맞아요, 맞습니다, 좋아, 좋아요, 알겠어, 알겠어요, 알겠습니다, 알았어, 알았어요, 정말, 정말요, 진짜, 진짜요, 물론이죠, 오케이',
    '그만, 그만해, 그만해요, 그만 해, 그만하세요, 멈춰, 멈춰요, 멈추세요, 정지, 중지, 조용히, 조용히 해, 조용히 해요, 조용, 됐어, 됐어요, 취소, 잠깐, 잠깐만, 잠시만, 스톱',
    '그리고 그런데 하지만 그래서 또는 왜냐하면 만약 그 이 저 제 내 우리 아주 매우',
    '잠시만 기다려 주세요.',
  ),
  ja: defineLanguage(
    'うん, うんうん, ううん, ん, ええ, はい, はいはい, へえ, へー, へぇ, ふーん, ふん, ほう, おお, あー, ああ, あ, えー, うーん, そう, そうそう, そうか, そうですか, そうですね, そうなんだ, そうなんですか, そっか, なるほど, なるほどね, わかった, わかりました, 分かった, 分かりました, 了解, もちろん, 本当, 本当に, ほんと, 本当ですか, すごい, いいね, いいですね, オーケー, オッケー',
    '止まって, 止めて, やめて, やめてください, ストップ, 停止, 静かに, 静かにして, 静かにしてください, 黙って, うるさい, もういい, もういいです, 十分, もう十分, キャンセル, 中止, 待って, ちょっと待って, 待ってください',
    '',
    '少々お待ちください。',
  ),
  zh: CHINESE,
  yue: CHINESE,
};

/** A longer text is no such phrase, in characters. */
const MOST_CHARS = 60;

function languageOf(code: string): SpokenLanguage | undefined {
  const known = code.toLowerCase().split(/[-_]/)[0]!;
  return Object.hasOwn(LANGUAGES, known) ? LANGUAGES[known] : undefined;
}

/** Whether all that was said in a language only shows that somebody listens; of languages that are not known here, only what sounds like English. */
export function isBackChannel(text: string, language: string): boolean {
  return consistsOf(text, language, (languageOf(language) ?? LANGUAGES.en!).listening);
}

/** Whether what was said only asks for silence; "stop" does so in every language. */
export function isStop(text: string, language: string): boolean {
  return consistsOf(text, language, (languageOf(language) ?? LANGUAGES.en!).stop) || consistsOf(text, 'en', LANGUAGES.en!.stop);
}

/** What is said while a tool is asked; absent in languages that are not known here. */
export function fillerOf(language: string): string | undefined {
  return languageOf(language)?.filler;
}

/** The words of a language after which more is to come. */
export function unfinishedWords(language: string): ReadonlySet<string> {
  return languageOf(language)?.unfinished ?? NONE;
}

/** Whether a text is one of the phrases, or some of them in a row. */
function consistsOf(text: string, code: string, phrases: ReadonlySet<string>): boolean {
  // Turkish has two letters i.
  const plain = text
    .toLocaleLowerCase(code.startsWith('tr') ? 'tr' : 'en')
    .replace(/’/g, "'")
    .replace(/[^\p{L}\p{M}\p{N}'ー]+/gu, ' ')
    .trim();
  if (plain === '' || plain.length > MOST_CHARS) return false;
  const parts = UNSPACED.has(code) ? [...plain.replaceAll(' ', '')] : plain.split(' ');
  const joint = UNSPACED.has(code) ? '' : ' ';
  // Whether the first so many parts are phrases.
  const isMade = [true];
  for (let end = 1; end <= parts.length; end += 1)
    isMade[end] = isMade.some((made, from) => made && phrases.has(parts.slice(from, end).join(joint)));
  return isMade[parts.length]!;
}
