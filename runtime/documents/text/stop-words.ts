/** Function words by language: what carries no topic by itself. */
const LISTS: Readonly<Record<string, string>> = {
  en:
    'a about above across after again against all almost alone along already also although always am among an and another any anybody anyone ' +
    "anything anywhere are aren't around as at away back be became because become becomes been before behind being below between both but by " +
    "came can can't cannot come could couldn't did didn't do does doesn't doing don't done down during each either else enough etc even ever " +
    "every everybody everyone everything everywhere few for from further gave get gets getting give given go goes going gone got had hadn't has " +
    "hasn't have haven't having he he's her here hers herself him himself his how however i i'd i'll i'm i've if in indeed instead into is " +
    "isn't it it's its itself just keep kept least less let let's like likely made make makes making many may maybe me might mine more most " +
    'mostly much must my myself near need needs neither never next no nobody none nor not nothing now nowhere of off often on once one only onto ' +
    'or other others our ours ourselves out over own per perhaps put quite rather really said same say says see seem seemed seems seen several ' +
    "shall she should shouldn't since so some somebody someone something sometimes somewhere soon still such take taken than that that's the " +
    "their theirs them themselves then there there's therefore these they they're thing things this those though through throughout thus to " +
    "together too took toward towards under until up upon us use used uses using very via want was wasn't we we're well were weren't what " +
    "whatever when where whether which while who whole whom whose why will with within without won't would wouldn't yes yet you you're your " +
    'yours yourself yourselves',
  de:
    'aber alle allem allen aller alles als also am an ander andere anderen anderer anderes auch auf aus bei beim bin bis bist da dabei dadurch ' +
    'dafür damit dann das dass dein deine dem den denn der deren des dessen die dies diese diesem diesen dieser dieses doch dort du durch ein ' +
    'eine einem einen einer eines einige er es etwas euch euer für gegen gewesen hab habe haben hat hatte hatten hier hin hinter ich ihm ihn ' +
    'ihnen ihr ihre ihrem ihren ihrer im in indem ins ist ja jede jedem jeden jeder jedes jedoch jetzt kann kein keine keinem keinen keiner ' +
    'können könnte machen man manche mehr mein meine mich mir mit muss müssen nach nicht nichts noch nun nur ob oder ohne sehr sein seine seinem ' +
    'seinen seiner seit sich sie sind so solche soll sollte sondern sonst über um und uns unser unsere unter viel vom von vor war waren warum was ' +
    'weil welche welchem welchen welcher welches wenn wer werde werden wie wieder will wir wird wirst wo wollen wurde wurden während zu zum zur ' +
    'zwar zwischen',
  fr:
    "à afin ai ainsi alors après as au aucun aucune aussi autre autres aux avait avant avec avez avoir avons ayant beaucoup bien c'est ça car ce " +
    "ceci cela celle celles celui ces cet cette ceux chaque chez comme comment d'un d'une dans de depuis des deux dire dit donc dont du elle " +
    "elles en encore entre est et étaient était été être eu eux fait faire fois font hors il ils j'ai je jusqu l'on la le les leur leurs lors " +
    'lui là ma mais me même mes moi moins mon ne ni non nos notre nous on ont ou où par parce pas pendant peu peut peuvent plus pour pourquoi ' +
    "qu'il quand que quel quelle quelles quels qui sa sans se selon sera ses si son sont sous sur ta te tel telle tes toi ton tous tout toute " +
    'toutes très tu un une vers voici voilà vos votre vous y',
  es:
    'a al algo algunas algunos ante antes aquel aquella así aun aunque bajo bien cada casi como con contra cual cuales cuando cuanto de del desde ' +
    'donde dos durante e el él ella ellas ellos en entre era eran eres es esa esas ese eso esos está están esta estaba estas este esto estos estoy ' +
    'fue fueron ha había hace hacer hacia han hasta hay he la las le les lo los más me mi mis mientras mismo mucho muchos muy nada ni no nos ' +
    'nosotros nuestra nuestro o os otra otras otro otros para pero poco por porque pues que qué quien quienes se sea según ser si sí sido sin ' +
    'sobre solo son soy su sus también tan tanto te tener tiene tienen todo toda todas todos tras tu tus un una unas uno unos usted ustedes va ' +
    'vosotros y ya yo',
  it:
    "a ad agli ai al alla alle allo altra altre altri altro anche ancora avere aveva c'è che chi ci ciò come con contro cosa così cui da dagli " +
    'dai dal dalla dalle degli dei del dell della delle dello di dopo dove due e è ed era erano essere fa fino fra fu gli ha hanno ho i il in io ' +
    'l la le lei li lo loro lui ma me meno mentre mi mia mie mio molti molto ne negli nei nel nella nelle no noi non nostra nostro o ogni oltre ' +
    'per perché però più poco poi prima quale quali quando quanto quella quelle quelli quello questa queste questi questo qui se sempre senza si ' +
    'sia siamo sono sta stata stato su sua sue sugli sul sulla suo suoi tra tu tua tuo tutta tutte tutti tutto un una uno vi voi',
  pt:
    'a ainda além algum alguma ao aos apenas após aquela aquele as às assim até bem cada com como contra cada da das de dela dele deles depois ' +
    'desde dessa desse desta deste do dos e é ela elas ele eles em enquanto entre era eram essa essas esse esses esta está estão estas este estes ' +
    'eu foi foram fosse há isso isto já la lhe lhes lo mais mas me mesmo meu meus minha muito muitos na não nas nem nenhum no nos nós nossa nosso ' +
    'num numa o onde os ou outra outras outro outros para pela pelas pelo pelos pode pois por porque qual quando que quem se sem sendo ser será ' +
    'seu seus si sido só sob sobre sua suas também tanto te tem têm ter toda todas todo todos tu tudo um uma umas uns você vocês vos',
  nl:
    'aan achter al alle alleen alles als altijd ander andere anders beide ben bij binnen daar daarom dan dat de deze die dit doch doen door dus ' +
    'een eens en er ergens geen geweest haar had hadden heb hebben heeft hem het hier hij hoe hun iemand iets ik in is ja je jij jou jouw jullie ' +
    'kan komen kon kunnen maar me meer men met mij mijn moet moeten na naar niet niets nog nu of om omdat onder ons onze ook op over reeds sinds ' +
    'te tegen tijdens toch toen tot tussen u uit uw van vanaf veel voor want waren was wat we wel welke werd werden wie wij wil worden wordt zal ' +
    'ze zelf zich zij zijn zo zonder zou',
};

const sets = new Map<string, ReadonlySet<string>>();
const NONE: ReadonlySet<string> = new Set();

/** The stop words of a language, in lower case, by its tag such as `en` or `de-AT`; empty for a language without a list. */
export function stopWordsOf(language: string): ReadonlySet<string> {
  const key = language.toLowerCase().split(/[-_]/)[0] ?? '';
  if (!Object.hasOwn(LISTS, key)) return NONE;
  const known = sets.get(key) ?? new Set(LISTS[key]!.split(' '));
  sets.set(key, known);
  return known;
}
