"""Words of orders to a model, by their function. Data: phrase_language.py reads it.

A language is added by its words, each to its classes; phrases.py has the phrases, which are the same for all
languages. Nouns and verbs are told apart by their place, so a word may be of several classes.
"""

from __future__ import annotations

LEXICON: dict[str, str] = {
    # Around an order's verb
    "SOFT": """
        please kindly only do now then so also instead just always simply important urgent nevermind ok okay
        bitte dann jetzt nun unbedingt veuillez maintenant puis alors svp plait por favor ahora luego entonces
        siempre per adesso sempre agora alsjeblieft nu пожалуйста
    """,
    "AND": "and but or und oder et ou y o и",
    "YOU": "you u du sie ihr vous tu te usted ustedes voce вы ты",
    "MUST": """
        must should shall will have need are is required requested instructed asked told ordered expected
        directed only muss musst mussen soll sollen sollst sollten sollte doit doivent devez dois devra devront
        debe debes deben tiene tienen devono deve devi deves devem moeten moet
    """,
    "TO": "to for fur zu au aux para pour per voor ai agli",
    "AT": "an a",
    "OUGHT": "must should shall muss mussen soll sollen sollten doivent devez deben debe",
    "NOT": """
        not never no don't nicht niemals nie kein keine keinen keinerlei ne pas jamais aucun aucune nunca jamas
        ningun ninguna non mai nao niet geen nooit не
    """,
    "ARE": "are re bist sind es etes eres sois son sei siete bent",
    "WHEN": "when whenever if while before after once wenn falls sobald beim bevor quand lorsque si cuando al se",
    "AS": "as being since because als comme como come",
    "THE": """
        the a an this that your any every all each der die das dem den ein eine le la les l un une el los las lo
        il o os
    """,
    "ME": "me us mir uns moi nous nos",
    "THEY": "they it its these their users people no sie ils elles ellos",
    "DOMAIN": "example.org",  # stands for every host that a text names
    # Doing away with what was said before
    "DROP": """
        ignore disregard forget override overrule discard bypass neglect overlook dismiss erase abandon
        ignorier{e,en,t} missacht{e,en,et} vergiss vergesst vergessen verwirf verwerfen ubergeh{e,en}
        ignor{ez,er,es} oubli{e,ez,er} neglig{e,ez} ecart{e,ez} ignor{a,en,ad,ar} olvid{a,e,en,ad,ar,ate}
        zignoruj pomin ignorera ignoruj ігноруй ігноруйте
        descart{a,e,en} omit{e,a,an} dimentic{a,ate} ignor{ate,ino} scart{a,ate} esquec{a,am} ignorem
        desconsider{e,em} negeer vergeet игнорируй игнорируйте забудь забудьте
    """,
    "STOP": "stop stoppe arretez detente",
    "FOLLOW": """
        follow obey heed folg{e,en,t} befolg{e,en,t} beacht{e,en,et} suiv{ez,re} suis respect{e,ez} sigas siga
        sigan obedezcas obedezca seguire segua следуй следуйте
    """,
    "PAY": "pay tenez tiens faites fais hagas haga haz hagan take",
    "HEED": "attention heed compte abstraction caso notice",
    "EARLIER": """
        previous previously prior earlier above preceding former foregoing existing original initial before
        vorherig{e,en,er,es} vorhergehend{e,en} bisherig{e,en,er} fruher{e,en} obig{e,en} vorangegangen{e,en}
        ursprunglich{e,en} vorige{n,r} zuvor vorher precedent{e,s,es} anterieur{e,s,es} dessus initial{e,es}
        poprzednie wczesniejsze tidigare predchozi попередні
        anterior anterior{es,mente} previ{o,os,a,as} precedent{i,emente} vorige eerdere voorgaande предыдущие
        прежние
    """,
    "ORDER": """
        instruction{,s} prompt{,s} directive{,s} guideline{,s} programming command{,s} anweisung{,en}
        instruktion{,en} vorgaben aufforderung{,en} befehl{,e} richtlinie{,n} consigne{,s} invite{,s}
        instruccion{,es} indicacion{,es} directri{z,ces} istruzion{e,i} instruc{ao,oes} instructies opdrachten
        инструкции указания команды instrukcje polecenia instruktioner instrukce pokyny інструкції вказівки
    """,
    "RULE": """
        rule{,s} order{,s} data context restriction{,s} constraint{,s} training safeguard{,s} directions
        message{,s} conversation source{,s} post{,s} page{,s} result{,s} document{,s} article{,s} policy
        policies safety limits regel{,n} kontext quelle{,n} einschrankung{,en} nachricht{,en} regle{,s}
        ordre{,s} contexte regla{,s} orden{,es} contexto fuente{,s} regol{a,e} ordini font{e,i} regra{,s} regels
        правила
    """,
    "EVERYTHING": "everything anything all alles tout todo tutto tudo",
    "WHAT": "what whatever was",
    "TOLD": "told given taught instructed trained said says states gesagt mitgeteilt dit dicho detto disse",
    "ALL": "all any every each alle{,n,r} jede{,n} tout{e,es} tous todas todos tutte tutti все",
    "OTHER": "other others rest remaining ander{e,en} ubrig{e,en} autre{,s} otr{a,as,os} altr{i,e} outr{as,os}",
    "ABOUT": "about regarding concerning uber sur sobre su",
    # Whom it speaks to
    "NOTE": """
        note notes message messages notice memo reminder nachricht mitteilung botschaft anmerkung hinweis{,e}
        remarque avis mensaje nota aviso avviso messaggio mensagem bericht opmerking
    """,
    "HINWEIS": """
        nachricht mitteilung botschaft hinweis{,e} anweisung{,en} remarque mensaje nota aviso avviso messaggio
        mensagem consigne{,s} instrucciones istruzioni
    """,
    "INFO": """
        instruction{,s} directive{,s} information info hint command{,s} anweisung{,en} information{en,s}
        consigne{,s} instrucciones istruzioni
    """,
    "NEWS": "update notice message override",
    "CALL": "attention achtung atencion attenzione atencao calling",
    "HELLO": """
        hello hi hey dear greetings hallo liebe{,r,s} cher{,s} chere{,s} bonjour hola querid{o,os,a,as}
        estimad{o,os} ciao car{o,i} ola
    """,
    "MACHINE": """
        llm llms ai ais chatbot chatbots bot bots gpt chatgpt copilot gemini crawler crawlers scraper scrapers
        summarizer summarizers summariser summarisers ki kis sprachmodell{,e,en} sprachassistent{,en} ia ias
        taalmodel taalmodellen нейросеть нейросети
    """,
    "KIND": """
        ai llm language large artificial intelligence automated automatic machine robotic virtual search web
        chat browsing conversational digital ki kunstliche{,n,r} intelligenz maschinelle{,n} automatische{,n,r}
        virtuelle{,n} virtuel{,s} automatique{,s} ia langage artificielle conversationnel{,s} lenguaje
        inteligencia artificiales virtuales automatic{o,os,a,as} linguaggio intelligenza artificiale linguagem
    """,
    "BEING": """
        assistant{,s} agent{,s} model{,s} system{,s} bot{,s} chatbot{,s} crawler{,s} reader{,s} scraper{,s}
        spider{,s} reviewer{,s} summari{zer,ser,zers,sers} engine{,s} assistent{,en} systeme{,n} modell{,e,en}
        agenten leser{,n} assistante{,s} modele{,s} robot{,s} lecteur{,s} asistente{,s} agente{,s} modelo{,s}
        sistem{a,as,i} lector{,es} assistent{e,i} modell{o,i} leitor{,es}
    """,
    "OF": "de d des du of di del della da",
    "ASSISTANT": "assistant assistent assistente asistente",
    "HUMAN": """
        developer{,s} engineer{,s} researcher{,s} company companies startup{,s} provider{,s} user{,s}
        student{,s} expert{,s} team{,s} lab{,s} industry firms leaders community fans skeptics skeptic ethics
        policy enthusiast{,s} professional{,s} maker{,s} vendor{,s} job{,s} research development safety training
        anbieter{,n} betreiber{,n} entwickler{,n} nutzer{,n} developpeur{,s} fournisseur{,s} desarrollador{,es}
        proveedor{,es}
    """,
    "READING": """
        read reads reading process processes processing visit visiting crawl crawling parse parses parsing
        scrape scraping index indexing ingesting access accessing liest lesen lisent lit lisant leen lee leggono
    """,
    # What it wants said
    "SAY": """
        state say claim report assert answer reply respond write declare conclude announce confirm mention
        insist sag{,e,en,t} behaupt{e,en,et} erklar{e,en,t} antwort{e,en,et} schreib{,e,en,t} meld{e,en}
        bericht{e,en} gib geben dites dis affirm{e,ez} declar{e,ez} indiqu{e,ez} repond{s,ez} ecri{s,vez}
        mentionn{e,ez} precis{e,ez} signal{e,ez} di diga digan afirm{a,en} declar{a,en} indic{a,ad} indiquen
        erwahn{e,en} respond{e,a,an} escrib{e,a,an} mencion{a,e,en} dica dichiar{a,ate} rispond{i,ete}
        scriv{i,ete} escreva zeg antwoord schrijf vermeld скажи скажите ответь ответьте напиши напишите
    """,
    "TELL": """
        tell inform assure convince sag{,e,en} teil{e,en} informier{e,en} dites dis inform{e,ez} di diga dile
        digale informa
    """,
    "ASSERT": "state report answer reply respond behaupt{e,en,et} affirm{e,ez} afirm{a,e,en}",
    "COMMAND": """
        DROP TELL PRAISE PRINT say state write answer respond reply cite recommend include add mention never not
        sage schreibe antworte dites ecrivez repondez responde escribe menciona
    """,
    "QUESTION": "question{,s} call letter email request first",
    "THAT": "that dass que che dat что",
    "PRAISE": """
        praise promote advertise endorse recommend lob{,e,en} bewirb bewerben empfiehl empfehlen lou{e,ez}
        vant{e,ez} recommand{e,ez} elogi{a,e} recomiend{a,e} promocion{a,e}
    """,
    "ANSWER": """
        answer{,s} reply replies response{,s} summary summaries output antwort{,en} zusammenfassung ausgabe
        reponse{,s} resume synthese respuesta{,s} resumen risposta riassunto resposta resumo antwoord
        samenvatting ответе ответ
    """,
    "YOUR": """
        your deine{,n,r,m,s} dein ihre{,n,r,m,s} euer eure{,n} vos votre tes ton ta tus sus tu su vostr{a,e,i}
        tue tua sua suas je jouw uw
    """,
    "USER": """
        user{,s} reader{,s} nutzer{,n,in} benutzer{,n,in} anwender leser{,n,in} utilisateur{,s} lecteur{,s}
        usuari{o,os} lector{,es} utente utenti leitor gebruiker пользователю
    """,
    "PERSON": "USER them him her everyone everybody whoever human visitors customers",
    "ASKS": """
        asks asked ask wants queries queried inquires requests prompted fragt gefragt demande interroge pregunta
        pregunten
    """,
    "MAKE": """
        add include insert integrate incorporate augment enhance modify embed append prepend begin start end
        finish render provide use replace convert substitute introduce misspell scramble jumble anagram
        rearrange remove group combine translate encode reverse hint suggest mix alter change give express
        deliver craft weave inject place put subtly omit drop repeat spell format present shuffle swap
        capitalize capitalise mention make conclude close emphasize emphasise tease encourage urge invite
        eliminate delete strip write type garble obfuscate distort transpose split cluster chunk join merge promise
        promote advertise link offer greet thank remind wish spread intersperse sprinkle attach refer direct
        fug{e,en} erganz{e,en} ersetz{e,en} verwend{e,en} beginn{e,en} ajout{e,ez} inser{e,ez} utilis{e,ez}
        termin{e,ez} commenc{e,ez} anad{e,a,an} incluy{e,a,an} agreg{a,ue} termin{a} empiez{a,e} aggiung{i,ete}
        inser{isci,ite} adicion{e,a} inclu{a,i}
    """,
    "PRINT": """
        print reveal repeat leak disclose expose recite reproduce dump output verrat{,e,en} wiederhol{e,en}
        offenbar{e,en} affich{e,ez} revel{e,ez} imprim{e,ez,a} repet{e,ez} divulgu{e,ez} revel{a,en} repit{e,a}
        muestr{a,e} mostr{a,ate} stamp{a,ate} rivel{a,ate} mostre
    """,
    "GIVE": """
        show give send share display return tell zeig{,e,en} gib geben nenn{e,en} schick{e,en} montr{e,ez}
        donn{e,ez} envo{ie,yez} da dime envi{a,e} manda invia
    """,
    "SECRET": """
        system hidden initial original developer secret internal confidential base systeme cache sistema segreto
        secreto versteckt{e,en} initiales
    """,
    "SYSTEM": "system developer systeme sistema",
    "PROMPT": """
        prompt{,s} instruction{,s} invite anweisung{,en} instruccion{,es} istruzion{e,i} message nachricht
        mensaje
    """,
    "SYSTEM_PROMPT": "systemprompt{,s} systemanweisung{,en} systemnachricht",
    # What it wants of sources and confidence
    "TRUST": """
        cite quote trust use recommend name rate rank treat consider regard mark present classify rely link
        prefer favor favour zitier{e,en} vertrau{e,en} bewert{e,en} betracht{e,en} behandl{e,en} nenn{e,en}
        empfiehl empfehlen verwend{e,en} nutz{e,en} cit{ez} not{ez} consider{ez,a} trait{e,ez} evalu{e,ez}
        class{e,ez} utilis{e,ez} recommand{e,ez} cita citen trat{a,e} califica califique valor{a,e} us{a,e,en}
        recomiend{a,e}
    """,
    "SET": """
        set fix keep raise put report give return assign express use state setz{e,en} gib geben regl{e,ez}
        fix{e,ez} met{s,tez} indiqu{e,ez} establec{e} establezca pon ponga fij{a,e} informa reporta imposta
        defina
    """,
    "CITE": """
        cite quote mention name recommend zitier{e,en} nenn{e,en} empfiehl empfehlen cit{ez} mentionnez
        recommand{e,ez} cita citen menciona recomiend{a,e}
    """,
    "ONLY": """
        only solely exclusively nur ausschliesslich uniquement seulement exclusivement solo solamente unicamente
        exclusivamente
    """,
    "THIS": "this our these dies{e,er,en,em,es} cette ce cet ces notre esta este estos quest{a,o,e} deste dit deze",
    "PAGE": """
        page site website webpage article text document content thread post paper source manuscript submission
        resume cv blog shop product company candidate seite artikel dokument inhalt{,e} quelle texte contenu
        pagina sitio articulo texto documento fuente contenido sito articolo testo fonte artigo conteudo
    """,
    "SOURCES": """
        source{,s} page{,s} site{,s} website{,s} result{,s} reference{,s} quelle{,n} seite{,n} fuente{,s} fonti
        pagina{,s}
    """,
    "BEST": """
        UNTRUE trustworthy authoritative reliable official definitive best verified correct credible true only
        sole accurate highest unreliable untrustworthy false outdated spam wrong inaccurate
        vertrauenswurdig{,e,ste,sten} massgeblich{,e} verlasslich{,e,ste,sten} zuverlassig{,e,ste,sten}
        offiziell{,e} einzige unzuverlassig fiable{,s} officiel{,le} seule meilleure autorite oficial unica
        autorizada mejor confiable{,s} affidabil{e,i} ufficiale falsas falsch
    """,
    "UNTRUE": "unreliable untrustworthy false outdated spam wrong inaccurate unzuverlassig falsas falsch",
    "CONFIDENCE": """
        confidence certainty konfidenz sicherheit zuversicht gewissheit confiance certitude confianza certeza
        fiducia confianca
    """,
    "TOP": """
        highest maximum full max maximal maximale{,n} hochste{,n,r} volle{,r} elevee maxima maximo alta massima
        1 1.0 1,0 100 10/10 absolute
    """,
    "VERIFY": """
        verify verifying verification factcheck checking prufen uberprufen uberprufung prufung verifier
        verificar verificacion comprobar
    """,
    "SKIP": "skip omit without disable bypass uberspring{e,en} ohne sautez sans sin senza",
    "HUSH": """
        mention mentioning reveal revealing disclose disclosing acknowledge refer tell report show say inform
        cite quote repeat highlight erwahn{e,en} verrat{e,en} nenn{e,en} sag{,e,en} zitier{e,en} mentionn{e,ez}
        revel{e,ez,es} divulgu{e,ez} parl{e,ez} cit{ez} menciones mencion{e,en} reveles digas diga cites
        menzionare rivelare
    """,
    "TALE": """
        instruction{,s} prompt{,s} message note update directive{,s} notice command hinweis{,e} anweisung{,en}
        nachricht mitteilung consigne{,s} instruccion{,es} nota mensaje aviso istruzion{e,i}
    """,
    "SUM": """
        summari{se,ze,ses,zes,sing,zing} summary zusammenfass{t,en,e} zusammenfassung resume{s,z,r} resumant
        resum{as,a,ir} riassum{i,ere} paraphrase paraphrasing
    """,
    # Roles that are put on
    "BECOME": "act pretend play roleplay simulate immerse behave become agis agissez actua comport{ez,ate} verhalte",
    "NOW": "now here jetzt nun maintenant desormais ahora agora adesso",
    "FROM": "from starting ab des desde partir da",
    "MODE": "mode modus modo",
    "FREED": "maintenance developer dan god jailbreak admin debug unrestricted override wartungsmodus mantenimiento",
    "JAIL": "dan dude stan openai jailbreak jailbroken unfiltered uncensored unrestricted confines chatgpt freed",
    "TALK": "JAIL prompt{,s} response{,s} gpt ai character instruction{,s}",
    "SPEAK": "answer respond reply act pretend speak talk behave antworte{,n} reponds repondez responde responda",
    "ANYTHING": "anything everything",
    "DO": "do",
    "ON": "on an sofort ahora",
    "INTO": "in into to from of dans en nella nel na no",
    "CHANGE": "modify augment enhance rephrase encode reverse rearrange scramble jumble anagram",
    "DISTORT": "scramble jumble shuffle misspell encode encrypt rearrange reverse anagram",
    "MESSAGE": "message{,s} text output",
    "LETTERS": "letter{,s} vowel{,s} consonant{,s} character{,s} syllable{,s}",
    "OPEN": "begin start end finish conclude close beginn{e,en} beende{,n} commenc{e,ez} termin{e,ez,a} empiez{a,e}",
    "SERVE": "provide render deliver craft",
    "REPLY": "reply replies response{,s}",
    "WITH": "with without using mit ohne avec sans con sin",
    "FULL": "full entire complete whole text contents content copy wording verbatim vollstandige{,n} texte texto",
    "POSITIVE": "positive favorable favourable glowing",
    "REVIEW": "review{,s} recommendation{,s} rating{,s} assessment{,s}",
    "ROLE": "system sys developer admin administrator root",
    "BACKWARDS": "snoitcurtsni noitcurtsni tpmorp erongi dragersid negnusiewna senoiccurtsni",
    "ROTATED": "vafgehpgvbaf vafgehpgvba cebzcg vtaber qvfertneq",
    # What makes it ordinary
    "REPORTED": """
        inject{,ed,ion,ions} attack{,s,er,ers} jailbreak{,s,ing} hidden malicious adversarial trick{,s,ed}
        hacker{,s} researcher{,s} example{,s} phrase{,s} such typed wrote asked told tells saying entering
        payload{,s} exploit{,s} spam beispiel{,e} angreifer angriff{,e} versteckt{,e,en} schrieb exemple{,s}
        attaque{,s} attaquant{,s} ejemplo{,s} ataque{,s} atacante{,s} oculta{,s} oculto{,s} esempio attacco
        exemplo{,s}
    """,
    "SCHOOL": """
        box writing space portal examples reasons quotations vocabulary topic resume cv photo{,s} phone ad
        availability salary portfolio rates student{,s} pupil{,s} teacher{,s} exam{,s} essay{,s} kundennummer
        below giveaway prize winner{,s} paragraph{,s} sentences evidence units calculator worksheet quiz marks
        homework textbook graph equation decimal nearest interview interviewer employer{,s} job applicant{,s}
        forms survey questionnaire landlord lawyer court moderator{,s} email{,s} envelope
    """,
    "LETTER": """
        you your letter email form notice contract complaint clause affidavit application essay thesis lemma
        theorem proof claimant tenant landlord seller refund invoice goods student{,s} law laws court requires
        regulations
    """,
    "MANUAL": """
        row{,s} round step{,s} stitch sleeve recipe package packet packaging label already doctor{,s} nurse
        airline jury manual assembly kit pattern installed windows macos linux chapter
    """,
    "SCREEN": """
        error{,s} password button dialog screen upload input click field app loading account interface ux ui
        file
    """,
    "CAREER": "job hired salary career settings tap android phone airplane iphone hiring",
}

# The classes that any text has words of, the commonest last.
COMMON = (
    "EARLIER RULE ONLY NOW PERSON USER SOURCES PAGE BEST READING TELL GIVE MAKE SAY HUSH SET TRUST WHEN EVERYTHING "
    "ALL OTHER THIS YOUR WHAT ARE AS MUST NOT THAT YOU THEY TO THE AND OF"
)
