#include <gtest/gtest.h>

#include <cstring>

#include "text/stemmer.hpp"

namespace quern::text {
namespace {

// Words and the stems that the Snowball project's English stemmer (3.1) gives them: some for each ending that a step
// names.
const char* const kStems[][2] = {
    // clang-format off
    {"abnormally","abnorm"}, {"accidentally","accident"}, {"according","accord"}, {"add","add"}, {"adding","add"},
    {"admittedly","admit"}, {"afeed","afe"}, {"analogous","analog"}, {"analogously","analog"}, {"andes","andes"},
    {"anguished","anguish"}, {"annonymous","annonym"}, {"annotatable","annotat"}, {"anthology","antholog"},
    {"applicability","applic"}, {"apred","apr"}, {"arsenal","arsenal"}, {"assignment","assign"}, {"atlas","atlas"},
    {"augmentation","augment"}, {"autoincrement","autoincr"}, {"awful","aw"}, {"awfulness","aw"}, {"bead","bead"},
    {"bed","bed"}, {"bhaible","bhaibl"}, {"bias","bias"}, {"bidirectional","bidirect"}, {"bitstate","bitstat"},
    {"boy","boy"}, {"bynens's","bynen"}, {"canning","canning"}, {"canonically","canon"}, {"capability","capabl"},
    {"capped","cap"}, {"caresses","caress"}, {"casestudies","casestudi"}, {"cats","cat"}, {"chainability","chainabl"},
    {"chaining","chain"}, {"cipalettize","cipalett"}, {"cknotification","cknotif"}, {"classses","classs"},
    {"clipdistance","clipdist"}, {"codespeed","codespe"}, {"codspeed","codspe"}, {"coercive","coerciv"},
    {"colloquialism","colloqui"}, {"comfortably","comfort"}, {"commonly","common"}, {"communism","communism"},
    {"compatability","compat"}, {"complicate","complic"}, {"conditional","condit"}, {"confusingly","confus"},
    {"consecusive","consecus"}, {"considerably","consider"}, {"containedness","contained"}, {"controlling","control"},
    {"cosmos","cosmos"}, {"createelement","createel"}, {"creative","creativ"}, {"criticism","critic"},
    {"cstylecomment","cstylecom"}, {"customization","custom"}, {"decorative","decor"}, {"delegate","deleg"},
    {"difference","differ"}, {"digitizer","digit"}, {"dinator","dinat"}, {"dircreate","dircreat"},
    {"disparagement","disparag"}, {"distributional","distribut"}, {"doctorevidence","doctorevid"},
    {"drevidence","drevid"}, {"dying","die"}, {"early","earli"}, {"earring","earring"}, {"effectiveness","effect"},
    {"effortlessly","effortless"}, {"egg","egg"}, {"elevation","elev"}, {"elliptical","ellipt"},
    {"emergencies","emergenc"}, {"emergency","emergenc"}, {"emptygenerator","emptygener"}, {"encodability","encod"},
    {"endlessly","endless"}, {"enforcement","enforc"}, {"enhance","enhanc"}, {"enjoy","enjoy"}, {"entity","entiti"},
    {"envenumerator","envenumer"}, {"eradicate","erad"}, {"erring","err"}, {"esize","esiz"}, {"evans's","evan"},
    {"evening","evening"}, {"ewcontroller","ewcontrol"}, {"exactness","exact"}, {"exceed","exceed"},
    {"exceptiontable","exceptiont"}, {"exclusiveness","exclus"}, {"express's","express"}, {"expressible","express"},
    {"extensible","extens"}, {"fabulous","fabul"}, {"faiss's","faiss"}, {"fence","fenc"}, {"fictional","fiction"},
    {"fidelity","fidel"}, {"figurative","figur"}, {"fileproperty","fileproperti"}, {"fixoperator","fixoper"},
    {"fmizzell","fmizzel"}, {"forgiveness","forgiv"}, {"formattable","formatt"}, {"friedly","fri"},
    {"functionally","function"}, {"fuzziness","fuzzi"}, {"gas","gas"}, {"generate","generat"},
    {"generously","generous"}, {"gently","gentl"}, {"geographical","geograph"}, {"getalignment","getalign"},
    {"getelement","getel"}, {"globalfunction","globalfunct"}, {"growvertical","growvert"}, {"handedly","hand"},
    {"happy","happi"}, {"hcertificate","hcertif"}, {"herring","herring"}, {"hoped","hope"}, {"hoping","hope"},
    {"hopping","hop"}, {"howe","howe"}, {"hrtfearly","hrtfear"}, {"ideally","ideal"}, {"idempotent","idempot"},
    {"idly","idl"}, {"ified","ifi"}, {"impactful","impact"}, {"importer","import"}, {"incidentally","incident"},
    {"inclusive","inclus"}, {"inconsistent","inconsist"}, {"incorrectness","incorrect"}, {"increasingly","increas"},
    {"indicative","indic"}, {"inexactness","inexact"}, {"inference","infer"}, {"informational","inform"},
    {"inialization","inial"}, {"inning","inning"}, {"insightful","insight"}, {"intentional","intent"},
    {"internal","internal"}, {"international","internat"}, {"iscontiguous","iscontigu"}, {"isfeasible","isfeas"},
    {"isisomorphism","isisomorph"}, {"isunsigned","isunsign"}, {"isurlinstance","isurlinst"}, {"isvisible","isvis"},
    {"jdhollander","jdholland"}, {"jenness","jen"}, {"kievanvoice","kievanvoic"}, {"kindness","kind"},
    {"kiwis","kiwi"}, {"krishnamoorthy","krishnamoorthi"}, {"later","later"}, {"lightolive","lightol"},
    {"limitprocesses","limitprocess"}, {"linefeed","linefe"}, {"liveness","live"}, {"localization","local"},
    {"losslessly","lossless"}, {"ludicrous","ludicr"}, {"lying","lie"}, {"maintainable","maintain"},
    {"makeelement","makeel"}, {"mathmaxapply","mathmaxappli"}, {"matrixfilter","matrixfilt"},
    {"maxheadersize","maxheaders"}, {"maxspecified","maxspecifi"}, {"memoization","memoiz"}, {"mentally","mental"},
    {"methodology","methodolog"}, {"minance","minanc"}, {"minified","minifi"}, {"misguidedly","misguid"},
    {"moderate","moder"}, {"nautical","nautic"}, {"needlessly","needless"}, {"negativity","negat"}, {"news","news"},
    {"nfriedly","nfri"}, {"noclasses","noclass"}, {"noparent","nopar"}, {"normative","normat"},
    {"notational","notat"}, {"nuisance","nuisanc"}, {"objects's","object"}, {"obscurity","obscur"},
    {"ocation","ocat"}, {"oding","ode"}, {"offing","off"}, {"olsinstall","olsinstal"}, {"only","onli"},
    {"opaquejsstring","opaquejsstr"}, {"operational","oper"}, {"optionality","option"}, {"orchestrator","orchestr"},
    {"organization","organiz"}, {"organizational","organiz"}, {"outing","outing"}, {"outputtopology","outputtopolog"},
    {"overwhelmingly","overwhelm"}, {"painful","pain"}, {"parallelism","parallel"}, {"paretovariate","paretovari"},
    {"past","past"}, {"phandle","phandl"}, {"plagiarism","plagiar"}, {"poisonous","poison"},
    {"polyfilling","polyfil"}, {"polymorphism","polymorph"}, {"ponies","poni"}, {"populate","popul"},
    {"precedeed","precede"}, {"prioritised","prioritis"}, {"probability","probabl"}, {"proceed","proceed"},
    {"proceeds","proceed"}, {"processable","process"}, {"procurement","procur"}, {"proxying","proxi"},
    {"pubblicate","pubblic"}, {"purposefully","purpos"}, {"qtdeclarative","qtdeclar"}, {"quantified","quantifi"},
    {"queuefull","queueful"}, {"radically","radic"}, {"randomization","random"}, {"rational","ration"},
    {"reasonably","reason"}, {"relational","relat"}, {"remotereply","remoterepli"}, {"resigned","resign"},
    {"resourcedenied","resourcedeni"}, {"responsiveness","respons"}, {"retryagent","retryag"},
    {"rightjustified","rightjustifi"}, {"robustness","robust"}, {"roughness","rough"}, {"runnable","runnabl"},
    {"ruthlessly","ruthless"}, {"santize","santiz"}, {"sateler","satel"}, {"say","say"},
    {"seccertificate","seccertif"}, {"sendtoall","sendtoal"}, {"sequelize","sequel"}, {"setallseed","setallse"},
    {"setkeepalive","setkeepal"}, {"shamelessly","shameless"}, {"shapepoly","shapepoli"}, {"shapes's","shape"},
    {"shortly","short"}, {"simplifies","simplifi"}, {"singly","singl"}, {"skies","sky"},
    {"skillreference","skillrefer"}, {"skis","ski"}, {"sky","sky"}, {"slackware","slackwar"}, {"stabiliti","stabil"},
    {"startelement","startel"}, {"statatement","statat"}, {"studioclasses","studioclass"}, {"subcall","subcal"},
    {"subprocesses","subprocess"}, {"succeed","succeed"}, {"superfluous","superflu"}, {"supplies","suppli"},
    {"supposedly","suppos"}, {"surprisingly","surpris"}, {"susceptible","suscept"}, {"synchornous","synchorn"},
    {"synonymous","synonym"}, {"tabprevious","tabprevi"}, {"tautology","tautolog"}, {"technologist","technolog"},
    {"technology","technolog"}, {"telecommunity","telecommun"}, {"tentative","tentat"}, {"tentativeness","tentat"},
    {"terance","teranc"}, {"theoretical","theoret"}, {"this","this"}, {"thoughtful","thought"}, {"ties","tie"},
    {"tightness","tight"}, {"tjexception","tjexcept"}, {"topological","topolog"}, {"trustful","trust"},
    {"tying","tie"}, {"ugly","ugli"}, {"uisletter","uislett"}, {"unacceptably","unaccept"}, {"unavoidably","unavoid"},
    {"unbearably","unbear"}, {"unconstructive","unconstruct"}, {"university","universiti"},
    {"unpredictably","unpredict"}, {"unwillingness","unwilling"}, {"usability","usabl"}, {"usefulness","use"},
    {"valency","valenc"}, {"vanishingly","vanish"}, {"varsize","varsiz"}, {"vcatechnology","vcatechnolog"},
    {"veloppement","velopp"}, {"verificate","verif"}, {"vileness","vile"}, {"vulerabilties","vulerabilti"},
    {"whiteness","white"}, {"windowspe","windowsp"}, {"witnesses","wit"}, {"woodhull","woodhul"},
    {"wsaestale","wsaestal"}, {"xmlgenerator","xmlgener"}, {"yes","yes"}, {"youth","youth"}, {"zombies","zombi"},
    // clang-format on
};

TEST(Stemmer, GivesTheStemsOfPorter2) {
  for (const auto& [word, stem] : kStems) {
    std::string given = word;
    stem_english(given);
    EXPECT_EQ(given, stem) << word;
  }
}

TEST(Stemmer, LeavesOtherScriptsAndShortWordsAlone) {
  for (const char* word : {"", "a", "is", "y", "abc1ing", "caf\u00e9s", "\u043a\u043e\u0448\u043a\u0438s", "Running"}) {
    std::string given = word;
    stem_english(given);
    EXPECT_EQ(given, word);
  }
}

TEST(Stemmer, SurvivesWordsThatAreAllEnding) {
  for (const char* word :
       {"'", "''", "'''", "'s'", "''s", "yyy", "sss", "eed", "ing", "ied", "''''s'", "ational", "ion"}) {
    std::string given = word;
    stem_english(given);
    EXPECT_LE(given.size(), std::strlen(word)) << word;
  }
}

}  // namespace
}  // namespace quern::text
